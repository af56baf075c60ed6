import { readFile, statfs } from 'node:fs/promises';
import { round } from './load.ts';

export interface Disk {
  mount: string;
  filesystem: string;
  size_gib: number;
  used_percent: number;
}

export interface Disks {
  /** The fullest first. */
  disks: Disk[];
  fullest: Disk | null;
  left_out: number;
}

interface Mount {
  mount: string;
  filesystem: string;
}

const GIB = 1024 ** 3;
const SHOWN = 10;
const STORAGE = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'overlay', 'f2fs', 'apfs', 'vfat', 'fuseblk']);

/** Mounts that hold files on a disk, one per mount point and device; /proc/mounts escapes blanks as \040. */
export function parseMounts(text: string): Mount[] {
  const seen = new Set<string>();
  const mounts: Mount[] = [];
  for (const line of text.split('\n')) {
    const [device = '', mount = '', filesystem = ''] = line.split(' ');
    if (!STORAGE.has(filesystem) || seen.has(device)) continue;
    seen.add(device);
    mounts.push({ mount: mount.replaceAll('\\040', ' '), filesystem });
  }
  return mounts;
}

export async function readDisks(): Promise<Disks> {
  const table = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const mounts = parseMounts(table);
  const read = await Promise.all((mounts.length > 0 ? mounts : [{ mount: '/', filesystem: 'root' }]).map(readDisk));
  const disks = read.filter((disk) => disk !== null).toSorted((a, b) => b.used_percent - a.used_percent);
  return { disks: disks.slice(0, SHOWN), fullest: disks[0] ?? null, left_out: Math.max(0, disks.length - SHOWN) };
}

async function readDisk({ mount, filesystem }: Mount): Promise<Disk | null> {
  const stats = await statfs(mount).catch(() => null);
  if (!stats || stats.blocks === 0) return null;
  const used = stats.blocks - stats.bfree;
  return {
    mount,
    filesystem,
    size_gib: round((stats.blocks * stats.bsize) / GIB, 1),
    used_percent: round((100 * used) / (used + stats.bavail), 1),
  };
}
