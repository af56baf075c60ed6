const words = (text: string): string[] => text.split(' ');

/** IPv4 addresses that a definition may not reach: private, local, reserved, and those of clouds for their machines. */
const REFUSED_IPV4 = [
  ...words('127.0.0.1 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1'),
  ...words('169.254.169.254 169.254.0.23 169.254.170.2 169.254.169.253 100.64.0.1 100.100.100.200'),
  ...words('168.63.129.16 192.0.0.192 192.0.0.1 198.18.0.1 0.0.0.0 0.1.2.3 255.255.255.255 240.0.0.1'),
  ...words('224.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1'),
];

const hexOf = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
};

/** The ways to write an IPv4 address as IPv6: mapped, compatible, translated (RFC 6145), NAT64, 6to4 and ISATAP. */
const asIpv6 = (address: string): string[] => [
  `::ffff:${address}`,
  `::ffff:${hexOf(address)}`,
  `::${hexOf(address)}`,
  `::ffff:0:${hexOf(address)}`,
  `64:ff9b::${address}`,
  `64:ff9b::${hexOf(address)}`,
  `64:ff9b:1::${hexOf(address)}`,
  `2002:${hexOf(address)}::1`,
];

export const REFUSED_FORMS: readonly string[] = [
  ...REFUSED_IPV4,
  ...REFUSED_IPV4.flatMap(asIpv6),
  ...words(':: ::1 0:0:0:0:0:0:0:1 fe80::1 febf::1 fec0::1 feff::1 fc00::1 fd00::1 fdff:ffff::1'),
  // Metadata over IPv6: AWS, Google.
  ...words('fd00:ec2::254 fd00:ec2::253 fd20:ce::254'),
  ...words('ff02::1 ff05::2 100::1 2001::1 2001:db8::1 2001:2::1 2001:10::1 2001:20::1 3fff::1'),
  ...words('64:ff9b::5db8:d822 2002:5db8:d822::1 2001:0:5db8:d822::1 ::5db8:d822 5f00::1'),
  ...words('192.88.99.1 192.31.196.1 192.52.193.1 192.175.48.1 2001:0:7f00:1:: 2001:0:a9fe:a9fe::1'),
  // What is no address may not be dialled either.
  '',
  'nonsense',
  '127.1',
  '0x7f.1',
  '0177.0.0.1',
  '2130706433',
  '1.2.3.4.5',
  '256.1.1.1',
  '::g',
  '1.1.1.1/24',
  ' 8.8.8.8',
  'fe80::1%eth0',
];

export const PUBLIC_FORMS: readonly string[] = [
  ...words('93.184.216.34 8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.1'),
  ...words('172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 169.253.255.255 169.255.0.0'),
  ...words('100.63.255.255 100.128.0.0 168.63.129.15 168.63.129.17 198.17.255.255 198.20.0.0'),
  ...words('223.255.255.255 ::ffff:93.184.216.34 ::ffff:808:808 2606:2800:220:1:248:1893:25c8:1946'),
  ...words('2001:4860:4860::8888 2a00:1450:4001:81b::200e 2400:cb00:2048:1::c629:d7a2 2001:200::1'),
];
