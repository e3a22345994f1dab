import type { ListedSkill } from '../../ports/task.ts';

/** Skills as many have them: what a skill stands among where its pack names no others. */
export const ordinarySkills: readonly ListedSkill[] = [
  {
    name: 'commit-messages',
    description:
      'Writes commit messages and pull request descriptions from a diff. Use when changes are about to be committed or handed over for review.',
  },
  {
    name: 'pdf-forms',
    description:
      'Reads PDF files: extracts text and tables, fills in forms, merges and splits pages. Use when a PDF is read, filled in or made.',
  },
  {
    name: 'spreadsheets',
    description:
      'Builds and edits Excel workbooks with formulas, formatting and charts. Use when the work is on an .xlsx file or its result should be one.',
  },
  {
    name: 'slide-decks',
    description:
      'Makes presentations: outlines, slides, speaker notes, layouts. Use when slides are to be made, changed or summarized.',
  },
  {
    name: 'meeting-notes',
    description:
      'Turns transcripts and rough notes of meetings into minutes with decisions and open points. Use when a meeting is to be summed up.',
  },
  {
    name: 'sql-queries',
    description:
      'Writes and speeds up SQL queries and explains query plans. Use when data in a database is asked for or a query is slow.',
  },
  {
    name: 'web-research',
    description:
      'Looks things up on the web, compares sources and cites them. Use when a question needs facts that are recent or have to be checked.',
  },
  {
    name: 'unit-tests',
    description:
      'Writes and repairs unit tests in the style of a code base. Use when code is to be covered by tests or tests fail.',
  },
];
