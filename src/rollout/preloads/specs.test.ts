import { describe, expect, test } from 'bun:test';
import { npmSpec, pipSpec, type SpecReading } from './specs.ts';

const seen = (reading: SpecReading) => {
  if (!reading.ok) return 'refused';
  const { name, from, pinned, runsItsOwn } = reading.spec;
  const place = typeof from === 'string' ? from : from.path;
  return [name ?? '?', place, ...(pinned ? ['pinned'] : []), ...(runsItsOwn ? ['runs its own'] : [])].join(' ');
};

describe('npm packages', () => {
  test.each([
    ['prettier', 'prettier index'],
    ['prettier@3.6.2', 'prettier index pinned'],
    ['prettier@^3.6.2', 'prettier index'],
    ['prettier@latest', 'prettier index'],
    ['@biomejs/biome@2.6.8', '@biomejs/biome index pinned'],
    ['@biomejs/biome', '@biomejs/biome index'],
    ['tool@npm:other@1.2.3-rc.1', 'tool index pinned'],
    ['tool@npm:@scope/other@1.2.3', 'tool index pinned'],
    ['tool@npm:other@1', 'tool index'],
    ['./tools/hello', '? /session/tools/hello pinned'],
    ['../hello', '? /hello pinned'],
    ['file:../hello', '? /hello pinned'],
    ['file:///opt/hello', '? /opt/hello pinned'],
    ['hello-1.0.0.tgz', '? /session/hello-1.0.0.tgz pinned'],
    ['/opt/hello', '? /opt/hello pinned'],
    ['user/repo', '? address'],
    ['github:user/repo#1a2b3c4', '? address pinned'],
    ['git+https://example.com/x.git', '? address'],
    ['https://example.com/x.tgz', '? address pinned'],
    ['x@https://example.com/x.tgz', 'x address pinned'],
    ['--global', 'refused'],
    ['-g', 'refused'],
    ['~/hello', 'refused'],
    ['a b', 'refused'],
    [' prettier', 'refused'],
    ['prettier\n--unsafe', 'refused'],
    ['pretty$(id)', 'refused'],
  ])('%s', (text, as) => {
    expect(seen(npmSpec(text, '/session'))).toBe(as);
  });
});

describe('Python packages', () => {
  test.each([
    ['pandas', 'pandas index'],
    ['pandas==2.3.3', 'pandas index pinned'],
    ['pandas == 2.3.3', 'pandas index pinned'],
    ['pandas==2.*', 'pandas index'],
    ['pandas==2.3.3,!=3', 'pandas index'],
    ['pandas>=2,<3', 'pandas index'],
    ['uvicorn[standard]==0.30.0', 'uvicorn index pinned'],
    ["pandas==2.3.3; python_version > '3.8'", 'pandas index pinned'],
    ['x', 'x index'],
    ['./tools/own', '? /session/tools/own pinned runs its own'],
    ['own-1.0-py3-none-any.whl', '? /session/own-1.0-py3-none-any.whl pinned'],
    ['../own-1.0.tar.gz', '? /own-1.0.tar.gz pinned runs its own'],
    ['file:../own', '? /own pinned runs its own'],
    ['own @ https://example.com/own-1.0-py3-none-any.whl', 'own address pinned'],
    ['own @ https://example.com/own-1.0.tar.gz', 'own address pinned runs its own'],
    ['git+https://example.com/own.git', '? address runs its own'],
    ['git+https://example.com/own.git@1a2b3c4', '? address pinned runs its own'],
    ['-r requirements.txt', 'refused'],
    ['--index-url=https://x', 'refused'],
    ['~/own', 'refused'],
    ['pan das', 'refused'],
    ['pandas\n', 'refused'],
    ['', 'refused'],
  ])('%s', (text, as) => {
    expect(seen(pipSpec(text, '/session'))).toBe(as);
  });
});
