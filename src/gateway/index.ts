export { createGateway, type GatewayOptions } from './gateway.ts';
export { limitFindings } from './limit-findings.ts';
