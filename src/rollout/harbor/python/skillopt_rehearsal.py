"""The rehearsal agent as Harbor runs it: no model is called. It does what the agent of the same name does on `local`.

It reads the SKILL.md that Harbor laid into the environment and runs, in order, the command of each list item of the form
`When the task says "PHRASE", run `COMMAND`` whose phrase stands in the instruction. At the end it names the sentences of
the instruction that no line speaks of.
"""

import json
import re
import shlex

from harbor.agents.base import BaseAgent
from harbor.agents.capabilities import AgentCapabilities

LINE = re.compile(r'^When the task says "([^"]+)", run `([^`]+)`')


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


def folded(text):
    return one_line(text).lower()


def list_items(text):
    """List items outside fenced blocks, wrapped ones joined, without their markers."""
    items, fence, inside = [], "", False
    for line in re.split(r"\r?\n", text):
        mark = re.match(r"^\s*(`{3,}|~{3,})", line)
        if mark:
            if fence == "":
                fence = mark.group(1)
            elif mark.group(1).startswith(fence):
                fence = ""
            inside = False
        elif fence == "":
            start = re.match(r"^[-*] +(.*)$", line)
            further = bool(re.match(r"^[ \t]+\S", line))
            if start:
                items.append(start.group(1).rstrip())
            elif inside and further:
                items[-1] = f"{items[-1]} {line.strip()}"
            inside = bool(start) or (inside and further)
    return items


def skill_lines(text):
    return [found.groups() for found in map(LINE.match, list_items(text)) if found]


def sentences_of(instruction):
    paragraphs = re.split(r"\r?\n[ \t]*\r?\n", instruction)
    return [s for p in paragraphs for s in re.split(r"(?<=[.!?]) ", one_line(p)) if s]


def closing_words(followed, left):
    named = [f"- {sentence}" for sentence in left]
    if followed == 0:
        return "\n".join(["No line of the skill speaks of this task:", *named])
    done = f"{'One line' if followed == 1 else f'{followed} lines'} of the skill followed."
    return "\n".join([f"{done} No line speaks of:", *named]) if left else done


class RehearsalAgent(BaseAgent):
    capabilities = AgentCapabilities(skills=True)

    @staticmethod
    def name():
        return "rehearsal"

    def version(self):
        return "1"

    async def setup(self, environment):
        pass

    async def run(self, instruction, environment, context):
        steps = [{"source": "user", "message": instruction}]

        def tell(final=None):
            told = [*steps, *([] if final is None else [{"source": "agent", "message": final}])]
            numbered = [{"step_id": at, **step} for at, step in enumerate(told, 1)]
            agent = {"name": self.name(), "version": self.version()}
            record = {"schema_version": "ATIF-v1.7", "agent": agent, "steps": numbered}
            (self.logs_dir / "trajectory.json").write_text(json.dumps(record))

        async def tool(name, shown, command):
            ended = await environment.exec(command)
            output = (ended.stdout or "") + (ended.stderr or "")
            call = {"tool_call_id": str(len(steps)), "function_name": name, "arguments": {"command": shown}}
            seen = {"results": [{"source_call_id": call["tool_call_id"], "content": output}]}
            steps.append({"source": "agent", "message": "", "tool_calls": [call], "observation": seen})
            tell()
            return ended, output

        text = ""
        if self.skills_dir:
            listed = await environment.exec(f"ls -1 {shlex.quote(str(self.skills_dir))}/*/SKILL.md | sort | head -n 1")
            path = (listed.stdout or "").strip()
            if path:
                ended, text = await tool("read", "SKILL.md", f"cat {shlex.quote(path)}")
                context.metadata = {"skillopt_read": ended.return_code == 0}
        if not text:
            tell("There is no skill to follow, so nothing was done.")
            return
        lines = [line for line in skill_lines(text) if folded(line[0]) in folded(instruction)]
        for _, command in lines:
            await tool("sh", command, f"sh -c {shlex.quote(command)}")
        left = [s for s in sentences_of(instruction) if not any(folded(phrase) in folded(s) for phrase, _ in lines)]
        tell(closing_words(len(lines), left))
