import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Edit, EditOp } from '../ports/edit.ts';
import type { LeakMaterial, TaskSecrets } from '../ports/leak.ts';
import { applyDescriptionEdit } from './description-edits.ts';
import { LeakIndexBuilder } from './leak-index.ts';
import { leakScanner, scannerOf } from './leak-scan.ts';
import { TRIGGER_PROMPT_WORDS } from './leak-windows.ts';
import { isDistinctive, isPattern } from './leak-words.ts';

const SEED = `---
name: ledger
description: Keeps the books
---
# Books

Dates look like \`2031-04-17\`. Money is written with two decimals.

- one rule
- two rules

The reference number of the old office was REF-77120-B.
`;

const task = (id: string, more: Partial<TaskSecrets> = {}): TaskSecrets => ({
  id,
  instruction: `Do the books of ${id.replaceAll('-', ' ')}.`,
  expected: [],
  patterns: [],
  verifier: [],
  solution: [],
  ...more,
});

const instruction =
  'Read every invoice below invoices/ and add up what the northern branch still owes, then write the sum in euros, alone, into owed.txt.';

const testPy = `import json
import pytest

# The heading of the table counts as a row that nobody asked for.
def test_total():
    with open("/app/result.json") as f:
        data = json.load(f)
    assert data["grand_total"] == 48213.75, "the grand total leaves out what was paid back in March"
    assert re.fullmatch(r"^INV-[0-9]{6}-(EU|US)$", data["number"])
    assert data["holder"] == "kx9-4471-quill"
    assert reconcile_branches(northern_ledger) == southern_balance
`;

const testSh = `#!/bin/bash
apt-get update && apt-get install -y curl
curl -LsSf https://astral.sh/uv/0.9.7/install.sh | sh
uvx --with pytest==8.4.1 pytest /tests/test_outputs.py -rA
mkdir -p "$LOGS_DIR/verifier"
`;

const shared =
  "awk -F ';' 'NR > 1 { owed[$1] += $3 } END { for (branch in owed) print branch, owed[branch] }' ledger.csv";

const material: LeakMaterial = {
  paths: ['/home/ada/packs/ledger', '/var/scratch/skillopt-1a2b-'],
  tasks: [
    task('sum-northern-branch', {
      instruction,
      verifier: [testPy, testSh],
      solution: [
        `#!/bin/sh\n${shared}\n# March was booked twice by the clerk of the harbor office, so it comes off once\necho 48213.75\n`,
      ],
    }),
    task('sum-southern-branch', { solution: [`${shared}\n`], verifier: [testSh] }),
    task('holiday', { expected: ['Corvus of the seven western isles', '1,048,576', 'Paris', '42', 'true'] }),
    task('entry17x9', {
      instruction: 'Say who the owner is.',
      patterns: ['^The owner is \\w+ of Lund-(?:[A-Z]{2})$', '\\b7741902\\b'],
    }),
    task('read a closing balance', {
      instruction: 'Say what is owed by customer QX-20391-Z.',
      expected: ['QX-20391-Z'],
    }),
    task('label-a', { expected: ['needs review by a bookkeeper'] }),
    task('label-b', { expected: ['needs review by a bookkeeper'] }),
    task('label-c', { expected: ['needs review by a bookkeeper'] }),
  ],
};

const edit = (content: string, op: EditOp = 'insert_after', target = '- one rule'): Edit => ({
  op,
  target,
  content,
  cites: ['sum-northern-branch'],
  reason: 'sum-northern-branch expects 48213.75',
});
const scan = leakScanner(material, SEED);

describe('what an edit may not carry', () => {
  test.each([
    ['the name of a task', 'As in sum-northern-branch, add up.', 'names a task'],
    ['in other case', 'See Sum-Northern-Branch.', 'names a task'],
    ['in a path', 'Look into tasks/sum-northern-branch/environment.', 'names a task'],
    ['of letters and digits', 'The job `entry17x9` wants less.', 'names a task'],
    ['of several words', 'When you read a closing balance, stop.', 'names a task'],
    ['the folder of the pack', 'Copy it from /home/ada/packs/ledger/x.', 'names a place'],
    ['the folder of a rollout', 'cd /var/scratch/skillopt-1a2b-0011-Xy/app', 'names a place'],
    ['what Harbor mounts', 'Look at /tests/test_outputs.py first.', 'names a place'],
    ['its solution', 'Run `bash /solution/solve.sh`.', 'names a place'],
    ['its reward', 'echo 1 > /logs/verifier/reward.txt', 'names a place'],
    ['a number', 'The answer is 1048576.', 'expects as its answer'],
    ['grouped otherwise', 'It is always **1_048_576**!', 'expects as its answer'],
    ['a phrase', 'The captain is “Corvus — of the Seven western isles”.', 'expects as its answer'],
    ['a number of a verifier', 'The total is 48,213.75 euros.', 'checks a task'],
    ['a literal of a verifier', 'The holder is `KX9-4471-quill`.', 'checks a task'],
    ['a pattern of a verifier', 'It must fit ^INV-[0-9]{6}-(EU|US)$ exactly.', 'a pattern'],
    ['a pattern of a check', 'Answer with ^The owner is \\w+ of Lund-(?:[A-Z]{2})$', 'a pattern'],
    ['what a pattern says outright', 'Use 7741902.', 'expects as its answer'],
    ['words of a verifier', 'Remember: the grand total leaves out what was\n  paid BACK in march.', 'checks a task'],
    ['its comment', 'The heading of the table counts as a row that matters.', 'checks a task'],
    ['its line', '`assert reconcile_branches( northern_ledger ) == southern_balance`', 'checks a task'],
    ['a single solution', 'It was booked twice by the clerk of the harbor office.', 'the solution of a single task'],
    ['the instruction', instruction.toUpperCase(), 'long passage'],
  ])('%s', (_name, content, words) => {
    expect(scan(edit(content), SEED) ?? 'nothing').toContain(words);
  });

  test('the sentence names line and kind, and neither task nor value', () => {
    const said = scan(edit('- a good rule\n- the total is 48213.75 in sum-northern-branch'), SEED);
    expect(said).toBe('line 2 of the content quotes what checks a task: say in other words what a good result is like');
    const name = scan(edit('\n\nfine\nsee sum-northern-branch\n', 'append_section', ''), SEED);
    expect(name).toBe('line 4 of the content names a task: say which kind of task is meant');
  });

  test('an edit that does not apply is looked at as well', () => {
    expect(scan(edit('48213.75', 'replace', 'nowhere'), SEED)).toContain('line 1 of the content');
  });

  test('line ends do not count', () => {
    const crlf = SEED.replaceAll('\n', '\r\n');
    expect(scan(edit('fine\r\nthe grand total leaves out\r\nwhat was paid back'), crlf)).toContain(
      'line 2 of the content',
    );
  });
});

describe('what comes together', () => {
  const seed = SEED.replace('- two rules', '- the total is X213.75 here\n- two rules');
  const own = leakScanner(material, seed);

  test('from the edit and the text beside it', () => {
    expect(own(edit('48', 'replace', 'X'), seed)).toContain('line 1 of the content, together with the text beside it,');
    expect(own(edit('49', 'replace', 'X'), seed)).toBeNull();
  });

  test('where something between is deleted', () => {
    const parted = seed.replace('X213.75', '48zzz213.75');
    expect(own(edit('', 'delete', 'zzz'), parted)).toContain('where the edit joins the lines around it');
  });
});

describe('what stands there already', () => {
  test('in the seed', () => {
    const knowing = SEED.replace('- two rules', '- the total is 48213.75, see sum-northern-branch and /tests/x.py');
    const own = leakScanner(material, knowing);
    expect(own(edit('Again: 48213.75 (sum-northern-branch), /tests/y.py'), knowing)).toBeNull();
    expect(own(edit('Back again: 48213.75'), SEED)).toBeNull();
    expect(own(edit('kx9-4471-quill'), knowing)).toContain('checks a task');
  });

  test('in the draft', () => {
    const draft = SEED.replace('- two rules', '- the total is 48213.75');
    expect(scan(edit('the 48213.75 from above', 'replace', '- the total is 48213.75'), draft)).toBeNull();
    expect(scan(edit('- better', 'replace', '- one rule'), draft)).toBeNull();
  });
});

describe('what is no leak', () => {
  test.each([
    ['a general rule', 'Add up the amounts of all branches, and leave out rows that were cancelled.'],
    ['words of the instruction', 'When the task asks what a branch still owes, write the sum in euros, alone.'],
    ['names of files that the agent is shown', 'Write it into `owed.txt`; the invoices lie below `invoices/`.'],
    ['a value that the instruction shows', 'Customer QX-20391-Z pays late.'],
    ['small numbers and single words', 'Paris has 42 of them, which is true.'],
    ['a task of one word', 'A holiday is no working day.'],
    ['the method that solutions share', `Run \`${shared}\`.`],
    [
      'what any program does',
      'Check it:\n```python\nwith open("/app/result.json") as f:\n    data = json.load(f)\n```',
    ],
    ['how anything is installed', '`apt-get update && apt-get install -y curl`, then `pip install pytest==8.4.1`'],
    ['how uv is installed', '`curl -LsSf https://astral.sh/uv/0.9.7/install.sh | sh`'],
    ['a label that many tasks expect', 'If in doubt the label is “needs review by a bookkeeper”.'],
    ['tests of the project', 'Run the tests in ./src/tests/ and tests/unit before you end.'],
    ['a folder with a like name', 'See /home/ada/packs/ledger-2/x.'],
    ['names with digits', 'Use python3.11, sha256, utf-16le, ISO-8859-1 and x86_64 on ubuntu-22.04.'],
    ['common numbers', 'A day has 86400 seconds, a port is below 65536, and 127.0.0.1 is this machine.'],
    ['a common pattern', 'Match digits with `[0-9]+`, words with `^\\w+$`.'],
  ])('%s', (_name, content) => {
    expect(scan(edit(content), SEED)).toBeNull();
    expect(scan(edit(content, 'append_section', ''), SEED)).toBeNull();
  });

  test('a place of Harbor that an instruction shows, and not one that only looks like it', () => {
    const of = (text: string) => leakScanner({ tasks: [task('a', { instruction: text })], paths: [] }, SEED);
    const change = edit('Run what lies in /tests/ first.');
    expect(of('Make the checks in /tests/ pass.')(change, SEED)).toBeNull();
    expect(of('Make the checks in /app/tests/ pass.')(change, SEED)).toContain('names a place');
  });

  test('a passage that three instructions share', () => {
    const passage = 'Write the answer into answer.txt as one line of plain text with a line feed behind it.';
    const of = (ids: readonly string[]) =>
      leakScanner({ tasks: ids.map((id) => task(id, { instruction: `${id}: ${passage}` })), paths: [] }, SEED);
    expect(of(['a', 'b', 'c'])(edit(passage), SEED)).toBeNull();
    expect(of(['a', 'b'])(edit(passage), SEED)).toContain('long passage');
  });
});

describe('distinctive', () => {
  test.each([
    ['48213', true],
    ['3.14159', true],
    ['12.75', true],
    ['1048576', true],
    ['4711', false],
    ['100000', false],
    ['0.00001', false],
    ['65536', false],
    ['2024-03-15', true],
    ['1.26.4', false],
    ['inv-20391', true],
    ['route-66', false],
    ['internationalization', false],
    ['3f9a77c1', true],
    ["lines[0].split('=')[1].strip", false],
    ['http://www.w3.org/2000/svg', false],
  ])('%s: %p', (literal, is) => {
    expect(isDistinctive(literal, 8)).toBe(is);
  });

  test.each([
    ['^ACC-\\d{6}$', true],
    ['(?:yes|no).*done', true],
    ['$LOGS_DIR/verifier', false],
    ['%02d%s\\n', false],
    ['[0-9]+', false],
    ['^[a-f0-9]{64}$', false],
    ['^\\d+(\\.\\d+)?$', false],
    ['^\\d{4}-\\d{2}-\\d{2}$', false],
    ['^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$', false],
    ['^[A-Z]{3}-\\d{4}$', true],
    ['{ print NR ". " $0 }', false],
  ])('%s reads as a pattern: %p', (text, is) => {
    expect(isPattern(text)).toBe(is);
  });
});

// words that no task, seed or list of common words has
const made = (prefix: string) =>
  fc.array(fc.constantFrom(...'bcdfghklmn'), { minLength: 3, maxLength: 6 }).map((l) => `${prefix}${l.join('')}`);
const foreign = fc.array(made('zz'), { minLength: 1, maxLength: 40 });
const verifierLine = fc.uniqueArray(made('vv'), { minLength: 8, maxLength: 14 });
const blank = fc.constantFrom(' ', '  ', '\n', '\n  ', '\t', ', ', ' — ', '. ');

describe('properties', () => {
  test('a line of a verifier is found anywhere, in any case and with any blanks', () => {
    fc.assert(
      fc.property(
        verifierLine,
        foreign,
        foreign,
        fc.array(fc.tuple(fc.boolean(), blank), { minLength: 14, maxLength: 14 }),
        fc.constantFrom<EditOp>('insert_after', 'insert_before', 'replace'),
        (line, before, behind, forms, op) => {
          const own = leakScanner(
            { tasks: [task('t', { verifier: [`x = 1\n${line.join(' ')}\ny`] })], paths: [] },
            SEED,
          );
          const written = line.map((w, i) => (forms[i]![0] ? w.toUpperCase() : w) + forms[i]![1]).join('');
          const said = own(edit(`${before.join(' ')} ${written} ${behind.join(' ')}`, op), SEED);
          expect(said).toContain('quotes what checks a task');
          for (const word of line) expect(said).not.toContain(word);
          expect(own(edit(written, op), SEED)).toBe(own(edit(written, op), SEED));
        },
      ),
      { numRuns: 150 },
    );
  });

  test('a text that has nothing in common with the tasks is never refused', () => {
    fc.assert(
      fc.property(foreign, fc.array(blank, { minLength: 40, maxLength: 40 }), (words, blanks) => {
        expect(scan(edit(words.map((w, i) => w + blanks[i]).join('')), SEED)).toBeNull();
      }),
      { numRuns: 300 },
    );
  });

  test('never throws, and the order of the tasks does not matter', () => {
    const turned = leakScanner({ ...material, tasks: material.tasks.toReversed() }, SEED);
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(testPy, testSh, shared, instruction, '48213.75', 'sum-northern-branch', '汉字'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.constantFrom<EditOp>('replace', 'append_section'), (p, op) => {
        const change = edit(p.join(' '), op, op === 'replace' ? '- one rule' : '');
        expect(turned(change, SEED)).toBe(scan(change, SEED));
      }),
      { numRuns: 200 },
    );
  });
});

describe('in a description', () => {
  const builder = new LeakIndexBuilder(SEED, TRIGGER_PROMPT_WORDS);
  for (const [n, prompt] of [
    'At Alba the pilots only leave during ebb tide, so when?',
    'Lay the long table',
    'Is it high water yet?',
  ].entries())
    builder.add(task(`prompt-${n}`, { instruction: prompt }));
  const scanned = scannerOf(builder.finish([]), SEED, applyDescriptionEdit);
  const append = (content: string) => scanned(edit(content, 'append_section', ''), SEED);

  test('six words in a row of a prompt, or all of a short one, are a quote', () => {
    expect(append('Use it when the pilots only leave during ebb.')).toContain('long passage');
    expect(append('Use it for: lay the long table.')).toContain('long passage');
    expect(append('Also when it is asked: is it high water yet?')).toContain('long passage');
  });

  test('the kind of work in other words is none', () => {
    expect(append('Use it for high water, ebb and when pilots leave. Not to lay a table.')).toBe(null);
  });

  test('what the edit completes together with the words beside it is one', () => {
    expect(
      scanned(edit('leave during ebb', 'append_section', ''), SEED.replace('Keeps the books', 'The pilots only')),
    ).toContain('long passage');
  });
});
