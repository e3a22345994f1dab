import { expect, test } from 'bun:test';
import { wayOut } from './way-out.ts';

test('proxies and certificates of the machine, and nothing else of its environment', () => {
  const variables = {
    HTTPS_PROXY: 'http://proxy.example:3128',
    no_proxy: 'localhost',
    HTTP_PROXY: '',
    NODE_EXTRA_CA_CERTS: '/etc/company/ca.pem',
    SSL_CERT_FILE: '/etc/company/ca.pem',
    SSL_CERT_DIR: 'here',
    ANTHROPIC_API_KEY: 'made-up',
  };
  expect(wayOut(variables)).toEqual({
    env: {
      HTTPS_PROXY: 'http://proxy.example:3128',
      no_proxy: 'localhost',
      NODE_EXTRA_CA_CERTS: '/etc/company/ca.pem',
      SSL_CERT_FILE: '/etc/company/ca.pem',
      SSL_CERT_DIR: 'here',
    },
    show: ['/etc/company/ca.pem'],
  });
  expect(wayOut({})).toEqual({ env: {}, show: [] });
});
