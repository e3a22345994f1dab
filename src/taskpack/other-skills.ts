import type { ListedSkill } from '../ports/task.ts';
import type { JsonSource, Node } from './json-source.ts';

/** Most other skills of a pack: a longer list is no list that agents show. */
const MOST_OTHERS = 60;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._:-]{0,63}$/u;
const MOST_DESCRIPTION = 1024;

/**
 * Reads the skills that stand beside the one under test in the list from which a model chooses:
 *
 *     "otherSkills": [{"name": "spreadsheets", "description": "Builds and edits Excel workbooks."}]
 *
 * Whatever is wrong is told and left out.
 */
export function readOtherSkills(source: JsonSource, node: Node): readonly ListedSkill[] {
  const nodes = source.list(node, 'otherSkills') ?? [];
  if (nodes.length > MOST_OTHERS) {
    source.problem(
      node,
      `otherSkills has ${nodes.length} skills, more than ${MOST_OTHERS}`,
      'keep those that are near',
    );
    return [];
  }
  const found: ListedSkill[] = [];
  for (const one of nodes) {
    const skill = readOne(source, one);
    if (skill === null) continue;
    if (found.some(({ name }) => name.toLowerCase() === skill.name.toLowerCase()))
      source.problem(one, `${skill.name} stands twice in otherSkills`, 'keep one of the two');
    else found.push(skill);
  }
  return found;
}

function readOne(source: JsonSource, node: Node): ListedSkill | null {
  const keys = source.object(node, 'another skill', ['name', 'description']);
  if (keys === null) return null;
  const value = (key: 'name' | 'description') => {
    const held = keys.get(key);
    if (held !== undefined) return source.string(held, `the ${key} of another skill`);
    if (!keys.meant.has(key)) source.problem(node, `another skill without a ${key}`, `add "${key}": …`);
    return null;
  };
  const [name, description] = [value('name'), value('description')];
  if (name === null || description === null) return null;
  if (!NAME.test(name) || /^none$/i.test(name)) {
    source.problem(node, `${JSON.stringify(name)} can't be the name of a skill`, 'use letters, digits and hyphens');
    return null;
  }
  const length = [...description].length;
  if (length <= MOST_DESCRIPTION) return { name, description };
  source.problem(
    node,
    `the description of ${name} has ${length} characters, more than ${MOST_DESCRIPTION}`,
    'shorten it',
  );
  return null;
}
