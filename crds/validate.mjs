import { needNode } from '@signalbox/crds/process/need-node';

needNode('validate');
const { validate } = await import('./src/cli/validate.ts');
/** The gateway's own rules; loaded only where its configuration is checked. */
const checkGateway = async (file) => (await import('../gateway/src/boot/check-config.ts')).checkConfig(file);
process.exitCode = await validate(process.argv.slice(2), checkGateway);
