// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of Dockerfiles are meant
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { dockerfileCopies } from './dockerfile-copies.ts';
import { type Files, taskFiles, temporaryFolder, writeFiles } from './pack-fixture.ts';
import { readPack } from './read-pack.ts';

let dir: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ dir, remove } = await temporaryFolder());
});
afterEach(() => remove());

async function copiesOf(dockerfile: string | undefined, more: Files = {}, toml = '') {
  const inEnvironment = Object.fromEntries(Object.entries(more).map(([path, text]) => [`environment/${path}`, text]));
  await writeFiles(dir, taskFiles('a', { 'environment/Dockerfile': dockerfile, 'task.toml': toml, ...inEnvironment }));
  return dockerfileCopies((await readPack(dir)).tasks[0]!);
}

const files: Files = {
  'data.txt': '1',
  'more.txt': '2',
  'src/x.py': 'x',
  'src/deep/y.py': 'y',
  'with space.txt': 's',
  'files.tar.gz': 'z',
};

/** Copies as `from>to`, with the mode where one is given. */
const honoured = async (lines: string, more: Files = {}) => {
  const { copies, notExecuted } = await copiesOf(`FROM a\n${lines}\n`, { ...files, ...more });
  return {
    copies: copies.map(({ from, to, mode }) => `${from}>${to}${mode === null ? '' : `@${mode.toString(8)}`}`),
    notExecuted,
  };
};

describe('what is copied', () => {
  test.each<[string, readonly string[]]>([
    ['WORKDIR /app\nCOPY data.txt .', ['data.txt>data.txt']],
    ['WORKDIR /app\nCOPY data.txt ./', ['data.txt>data.txt']],
    ['WORKDIR /app\nCOPY data.txt /app', ['data.txt>data.txt']],
    ['WORKDIR /app\nCOPY data.txt /app/', ['data.txt>data.txt']],
    ['WORKDIR /app\nCOPY data.txt other.txt', ['data.txt>other.txt']],
    ['WORKDIR /app\nCOPY data.txt new/', ['data.txt>new/data.txt']],
    ['WORKDIR /app\nCOPY data.txt more.txt new/', ['data.txt>new/data.txt', 'more.txt>new/more.txt']],
    ['WORKDIR /app\nCOPY . .', ['.>.']],
    ['WORKDIR /app\nCOPY ./ /app/all', ['.>all']],
    ['WORKDIR /app\nCOPY src src', ['src>src']],
    ['WORKDIR /app\nCOPY /src/ .', ['src>.']],
    ['WORKDIR /app\nCOPY src lib\nCOPY data.txt lib', ['src>lib', 'data.txt>lib/data.txt']],
    ['WORKDIR /app\nCOPY src/deep data.txt x', ['src/deep>x', 'data.txt>x/data.txt']],
    ['WORKDIR /app\nADD data.txt .', ['data.txt>data.txt']],
    ['WORKDIR /app\nCOPY ["with space.txt", "./"]', ['with space.txt>with space.txt']],
    ['WORKDIR /app\nCOPY *.txt ./', ['data.txt>data.txt', 'more.txt>more.txt', 'with space.txt>with space.txt']],
    ['WORKDIR /app\nCOPY sr* lib/', ['src>lib']],
    ['WORKDIR /app\nCOPY src/* lib/', ['src/x.py>lib/x.py', 'src/deep>lib']],
    ['WORKDIR /app\nCOPY --chown=1:1 --chmod=0755 data.txt run', ['data.txt>run@755']],
    ['WORKDIR /app\nCOPY --link --chmod=644 data.txt ./', ['data.txt>data.txt@644']],
    ['WORKDIR /app/sub\nCOPY data.txt .\nWORKDIR /app', ['data.txt>sub/data.txt']],
    ['WORKDIR /app\nWORKDIR sub\nCOPY data.txt ..\nWORKDIR /app', ['data.txt>data.txt']],
    ['ENV D=/app/d\nWORKDIR /app\nCOPY data.txt ${D}/x', ['data.txt>d/x']],
    ['COPY data.txt /app/', ['data.txt>data.txt']],
    ['COPY data.txt \\\n  # why\n  /app/', ['data.txt>data.txt']],
    ['WORKDIR /app\nCOPY data.txt x\nCOPY more.txt x', ['data.txt>x', 'more.txt>x']],
  ])('%j', async (lines, expected) => {
    const found = await honoured(lines);
    expect(found.copies).toEqual([...expected]);
    expect(found.notExecuted.filter((line) => !line.includes(' ENV '))).toEqual([]);
  });

  test('of stages: the final one and those it is built upon', async () => {
    const { copies, notExecuted } = await copiesOf(
      'FROM a AS base\nWORKDIR /app\nCOPY data.txt .\nFROM b AS other\nCOPY more.txt /app/\nRUN make\nFROM base\nCOPY --from=other /app/x .\n',
      files,
    );
    expect(copies).toEqual([{ from: 'data.txt', to: 'data.txt', mode: null }]);
    expect(notExecuted).toEqual([
      'environment/Dockerfile:6: RUN make',
      'environment/Dockerfile:8: COPY --from=other /app/x . (it takes files from another image)',
    ]);
  });

  test('into a workdir that task.toml names', async () => {
    const { copies } = await copiesOf(
      'FROM a\nWORKDIR /opt\nCOPY data.txt /srv/work\nCOPY more.txt .\n',
      files,
      '[environment]\nworkdir = "/srv/work"\n',
    );
    expect(copies).toEqual([{ from: 'data.txt', to: 'data.txt', mode: null }]);
  });

  test('without what .dockerignore leaves out, file by file', async () => {
    const ignore = { '.dockerignore': '*.txt\nsrc/deep\nDockerfile\n!more.txt\n*.gz\n.dockerignore\n' };
    expect(await honoured('WORKDIR /app\nCOPY . .\nCOPY data.txt .\nCOPY src lib', ignore)).toEqual({
      copies: ['more.txt>more.txt', 'src/x.py>src/x.py', 'src/x.py>lib/x.py'],
      notExecuted: ['environment/Dockerfile:4: COPY data.txt . (environment/ holds no data.txt)'],
    });
    const keep = { '.dockerignore': 'src\n!src/x.py\n' };
    expect((await honoured('WORKDIR /app\nCOPY src .', keep)).copies).toEqual(['src/x.py>x.py']);
  });

  test('without a Dockerfile: all of environment/, as it is uploaded beside a prebuilt image', async () => {
    const toml = '[environment]\ndocker_image = "image:1"\n';
    expect(await copiesOf(undefined, files, toml)).toEqual({
      copies: [{ from: '.', to: '.', mode: null }],
      notExecuted: ['task.toml: docker_image = "image:1"'],
    });
  });

  test('nothing where there is nothing, or where a compose file says it', async () => {
    const toml = '[environment]\ndocker_image = "image:1"\n';
    expect((await copiesOf(undefined, {}, toml)).copies).toEqual([]);
    expect(await copiesOf(undefined, { ...files, 'docker-compose.yaml': 'services: {}' })).toEqual({
      copies: [],
      notExecuted: ['environment/docker-compose.yaml: its services are not started'],
    });
  });
});

describe('what is not', () => {
  test.each<[string, string]>([
    ['RUN apt-get update && \\\n    apt-get install jq', 'RUN apt-get update && apt-get install jq'],
    ['ENV A=1', 'ENV A=1'],
    ['COPY --from=x /y /app/', 'COPY --from=x /y /app/ (it takes files from another image)'],
    ['COPY data.txt /opt/', 'COPY data.txt /opt/ (it leads outside the workdir /app)'],
    ['COPY data.txt /', 'COPY data.txt / (it leads outside the workdir /app)'],
    ['COPY data.txt /application', 'COPY data.txt /application (it leads outside the workdir /app)'],
    ['COPY data.txt .', 'COPY data.txt . (it leads outside the workdir /app)'],
    ['COPY data.txt /app/../etc/x', 'COPY data.txt /app/../etc/x (it leads outside the workdir /app)'],
    ['COPY ../secret /app/', 'COPY ../secret /app/ (it leads out of environment/)'],
    ['COPY nothing /app/', 'COPY nothing /app/ (environment/ holds no nothing)'],
    ['COPY data.txt $X/y', 'COPY data.txt $X/y (it depends on a variable that the Dockerfile does not set)'],
    ['COPY data.txt', 'COPY data.txt (it names no destination)'],
    ['COPY --parents src /app/', 'COPY --parents src /app/ (--parents is not understood)'],
    ['COPY --chmod=u+x data.txt /app/', 'COPY --chmod=u+x data.txt /app/ (--chmod is not understood)'],
    ['COPY <<EOF /app/x\nhello\nEOF', 'COPY <<EOF /app/x (its content stands in the Dockerfile)'],
    ['ADD https://example.com/x /app/', 'ADD https://example.com/x /app/ (it downloads)'],
    ['ADD git@example.com:a/b.git /app/', 'ADD git@example.com:a/b.git /app/ (it downloads)'],
    ['ADD files.tar.gz /app/', 'ADD files.tar.gz /app/ (it unpacks an archive)'],
  ])('%j', async (lines, expected) => {
    const found = await honoured(lines);
    expect(found.copies).toEqual([]);
    expect(found.notExecuted).toEqual([`environment/Dockerfile:2: ${expected}`]);
  });

  test('a long line is cut', async () => {
    const found = await honoured(`RUN ${'x'.repeat(500)}`);
    expect(found.notExecuted[0]).toMatch(/^environment\/Dockerfile:2: RUN x+…$/);
    expect(found.notExecuted[0]!.length).toBeLessThan(200);
  });
});

test('patterns that take too long are refused, with the folder', async () => {
  const paths = Array.from({ length: 300 }, (_, n) => `${'a'.repeat(200)}${n}`);
  const ignore = Array.from({ length: 1000 }, (_, n) => `${'*a'.repeat(40)}[${n}z]`).join('\n');
  const more = { ...Object.fromEntries(paths.map((path) => [path, ''])), '.dockerignore': ignore };
  await expect(copiesOf('FROM a\nWORKDIR /app\nCOPY . .\n', more)).rejects.toMatchObject({
    failure: { code: 'pack', what: expect.stringContaining('take too long'), where: `${dir}/a/environment` },
  });
});

test('a Dockerfile that copies everything again and again is refused, with its line', async () => {
  const more = { ...Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`d/${n}`, ''])), '.dockerignore': 'x' };
  const dockerfile = `FROM a\nWORKDIR /app\n${'COPY . .\n'.repeat(900)}`;
  await expect(copiesOf(dockerfile, more)).rejects.toMatchObject({
    failure: { code: 'pack', where: expect.stringMatching(/Dockerfile:\d+$/) },
  });
});
