import { expect, test } from 'vitest';
import { readCommand } from './cli.ts';

const read = (line: string) => readCommand(line.split(' ').filter(Boolean));

test('the command line of the sidecar', () => {
  const line = 'sync --kinds Pipeline,LibraryStep --dir /managed --reload-url http://127.0.0.1:8000/reload';
  expect(read(`${line} --reload-token-file /token --service-config a.yaml --namespaces a,b --port 8081`)).toEqual({
    role: 'sync',
    options: {
      kinds: ['Pipeline', 'LibraryStep'],
      dir: '/managed',
      reloadUrl: 'http://127.0.0.1:8000/reload',
      reloadTokenFile: '/token',
      serviceConfigs: ['a.yaml'],
      namespaces: ['a', 'b'],
      host: '127.0.0.1',
      port: 8081,
    },
  });
});

test('the manager needs nothing, and elects a leader unless told otherwise', () => {
  expect(read('manager')).toMatchObject({
    role: 'manager',
    options: { leaderElect: true, apiServerUrl: null, serviceConfigs: [] },
  });
  const line =
    'manager --leader-elect=false --api-server-config a.yaml --gateway-config g.yaml --gateway-url https://g:1 --ca ca.pem';
  expect(read(line)).toMatchObject({
    options: { leaderElect: false, serviceConfigs: ['a.yaml', 'g.yaml'], gatewayUrl: 'https://g:1', caFile: 'ca.pem' },
  });
});

test.each([
  ['', 'name the role to run'],
  ['sing', 'name the role to run'],
  ['sync manager', 'unexpected argument'],
  ['sync --dir /d', '--kinds is required'],
  ['sync --kinds Pipelines --dir /d', 'unknown kind "Pipelines"'],
  ['sync --kinds toString --dir /d', 'unknown kind "toString"'],
  ['sync --kinds Pipeline', '--dir is required'],
  ['sync --kinds Pipeline --dir /d --reload-url localhost', '--reload-url'],
  ['sync --kinds Pipeline --dir /d --port 70000', '--port'],
  ['manager --leader-elect=no', '--leader-elect'],
  ['manager --gateway-url gateway', '--gateway-url'],
  ['manager --unknown', '--unknown'],
])('"%s" is refused with a sentence that says why', (line, expected) => {
  const command = read(line);
  expect(command.role === 'error' ? command.message : command.role).toContain(expected);
});
