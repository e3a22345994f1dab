"""Rulebook: a simulated world for skill optimizers.

A world has R hidden rules.  A task needs one to three of them.  A skill document
helps with a task only when it states every rule the task needs.  Nothing here calls
a model: rollouts are hash-driven Bernoulli draws, so the true expected score of any
skill text is known exactly.

Standard library only.  See README.md for the contract.
"""
from __future__ import annotations

import hashlib
import json
import random
import re
from dataclasses import asdict, dataclass, field, replace

FRONTMATTER = (
    "---\n"
    "name: rulebook\n"
    "description: Conventions for answering rulebook tasks. Use for every rulebook task.\n"
    "---\n"
)
TITLE = "# Rulebook skill"
SECTION = "## Rules"
MARK = re.compile(r"^\s*(?:[-*]\s+)?(RULE|ANTI|HARM|NOTE) (\d+):", re.M)
HINT = re.compile(r"\[hint:(rule|harm) (\d+)\]")
TASK = re.compile(r"\bTASK ([a-z]+-\d+)\b")
# Lines that may belong to a skill; the first other line ends the document in a prompt.
SKILL_LINE = re.compile(
    r"^\s*(?:$|---$|name: |description: |# Rulebook skill$|## Rules$|<!--|"
    r"(?:[-*]\s+)?(?:RULE|ANTI|HARM|NOTE) \d+:)"
)


@dataclass(frozen=True)
class Config:
    seed: int = 0
    rules: int = 24
    train: int = 24
    selection: int = 24
    test: int = 48
    needs: tuple[float, ...] = (0.5, 0.35, 0.15)  # P(task needs 1, 2, 3 rules)
    skew: float = 0.8                              # popularity of rule k ~ 1/(k+1)^skew
    p_hi: float = 0.95
    p_lo: float = 0.05
    harm: float = 0.85                             # factor per harmful line
    seed_coverage: float = 0.4                     # share of rules the seed skill states
    seed_harms: int = 1
    seed_notes: int = 2
    infra: float = 0.0                             # P(a rollout ends without a score)
    infra_mode: str = "rollout"                    # rollout: HTTP 200 + INFRA_ERROR; http: status 503
    hint_accuracy: float = 0.8                     # P(the hint names a rule that is really missing)
    q_good: float = 0.35
    q_neutral: float = 0.40
    q_bad: float = 0.25
    edits_per_failures: int = 3                    # one edit per this many failing trajectories shown
    latency_ms: float = 0.0                        # target latency over HTTP
    optimizer_latency_ms: float = 0.0
    reply_template: str = ""                       # for model "optimizer/template"

    @staticmethod
    def from_json(data: dict) -> "Config":
        known = {k: v for k, v in data.items() if k in Config.__dataclass_fields__}
        unknown = set(data) - set(known) - {"preset"}
        if unknown:
            raise ValueError(f"unknown keys: {sorted(unknown)}")
        if "needs" in known:
            known["needs"] = tuple(known["needs"])
        base = PRESETS[data["preset"]] if "preset" in data else Config()
        return replace(base, **known)


LOW, HIGH = dict(p_hi=0.95, p_lo=0.05), dict(p_hi=0.75, p_lo=0.35)
LARGE = dict(rules=24, train=24, selection=24, test=48)
SMALL = dict(rules=10, train=8, selection=8, test=16)
PRESETS = {
    "large-low": Config(**LARGE, **LOW), "large-high": Config(**LARGE, **HIGH),
    "small-low": Config(**SMALL, **LOW), "small-high": Config(**SMALL, **HIGH),
}


def unit(*parts: object) -> float:
    """A uniform number in [0, 1) that depends only on its arguments."""
    h = hashlib.blake2b("|".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(h, "big") / 2.0**64


def skill_hash(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16]


def rule_line(k: int) -> str:
    return f"RULE {k}: handle topic {k} by convention c{(k * 37) % 101}."


def anti_line(k: int) -> str:
    return f"ANTI {k}: ignore any convention for topic {k}."


def harm_line(j: int) -> str:
    return f"HARM {j}: always rush and skip check h{j}."


def note_line(j: int) -> str:
    return f"NOTE {j}: keep in mind general remark n{j}."


@dataclass
class Rollout:
    task: str
    attempt: int
    status: str            # "scored" or "errored"
    reward: int | None     # 1, 0 or None when errored
    text: str


@dataclass
class Edit:
    kind: str              # what the simulator meant: good, neutral, bad
    op: str                # append, replace, delete
    target: str
    content: str

    def public(self) -> dict:
        out = {"op": self.op}
        if self.target:
            out["target"] = self.target
        if self.content:
            out["content"] = self.content
        return out


def apply_edit(text: str, e: Edit) -> str:
    if e.op == "append":
        return text.rstrip("\n") + "\n" + e.content + "\n"
    if e.target not in text:
        return text
    if e.op == "delete":
        return text.replace(e.target + "\n", "", 1) if e.target + "\n" in text else text.replace(e.target, "", 1)
    return text.replace(e.target, e.content, 1)


class World:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        rng = random.Random(f"world-{cfg.seed}")
        order = list(range(cfg.rules))
        rng.shuffle(order)
        weight = [0.0] * cfg.rules
        for rank, k in enumerate(order):
            weight[k] = 1.0 / (rank + 1) ** cfg.skew
        self.needs: dict[str, tuple[int, ...]] = {}
        self.splits: dict[str, list[str]] = {}
        for split, n in (("train", cfg.train), ("selection", cfg.selection), ("test", cfg.test)):
            ids = [f"{split}-{i}" for i in range(n)]
            for t in ids:
                m = rng.choices(range(1, len(cfg.needs) + 1), cfg.needs)[0]
                got: list[int] = []
                while len(got) < min(m, cfg.rules):
                    k = rng.choices(range(cfg.rules), weight)[0]
                    if k not in got:
                        got.append(k)
                self.needs[t] = tuple(sorted(got))
            self.splits[split] = ids
        self.answers = {t: f"A{int(unit('answer', cfg.seed, t) * 1e9):09d}" for t in self.needs}
        covered = sorted(rng.sample(range(cfg.rules), int(round(cfg.seed_coverage * cfg.rules))))
        lines = [rule_line(k) for k in covered]
        lines += [harm_line(900 + j) for j in range(cfg.seed_harms)]
        lines += [note_line(900 + j) for j in range(cfg.seed_notes)]
        rng.shuffle(lines)
        self.seed_skill = FRONTMATTER + "\n" + TITLE + "\n\n" + SECTION + "\n\n" + "\n".join(lines) + "\n"
        self._parsed: dict[str, tuple[frozenset[int], frozenset[int], int]] = {}
        self._p: dict[str, dict[str, float]] = {}

    # -- truth -----------------------------------------------------------------------
    def parse(self, text: str) -> tuple[frozenset[int], frozenset[int], int]:
        """(rules covered, harmful lines, filler lines)."""
        hit = self._parsed.get(text)
        if hit is None:
            found: dict[str, set[int]] = {"RULE": set(), "ANTI": set(), "HARM": set(), "NOTE": set()}
            for kind, n in MARK.findall(text):
                found[kind].add(int(n))
            hit = (frozenset(found["RULE"] - found["ANTI"]), frozenset(found["HARM"]), len(found["NOTE"]))
            if len(self._parsed) > 20000:
                self._parsed.clear()
            self._parsed[text] = hit
        return hit

    def p(self, text: str, task: str) -> float:
        """True success probability of one scored rollout."""
        covered, harms, _ = self.parse(text)
        base = self.cfg.p_hi if covered.issuperset(self.needs[task]) else self.cfg.p_lo
        return base * self.cfg.harm ** len(harms)

    def true_score(self, text: str, split: str = "test") -> float:
        ids = self.splits[split] if split != "all" else list(self.needs)
        return sum(self.p(text, t) for t in ids) / len(ids)

    def best_possible(self) -> float:
        return self.cfg.p_hi

    def gain(self, before: str, after: str) -> float:
        """True change over all tasks of the world; > 0 good, 0 neutral, < 0 harmful."""
        d = self.true_score(after, "all") - self.true_score(before, "all")
        return 0.0 if abs(d) < 1e-12 else d

    # -- rollouts --------------------------------------------------------------------
    def rollout(self, text: str, task: str, attempt: int) -> Rollout:
        c = self.cfg
        key = (c.seed, task, skill_hash(text), attempt)
        if c.infra and unit("infra", *key) < c.infra:
            return Rollout(task, attempt, "errored", None, "INFRA_ERROR: the sandbox was lost before scoring")
        if unit("reward", *key) < self.p(text, task):
            return Rollout(task, attempt, "scored", 1, f"Done.\nANSWER: {self.answers[task]}")
        covered, harms, _ = self.parse(text)
        missing = [k for k in self.needs[task] if k not in covered]
        h = unit("hint", *key)
        if harms and unit("harmhint", *key) < 0.25:
            ordered = sorted(harms)
            hint = f"[hint:harm {ordered[int(h * len(ordered))]}]"
        elif missing and unit("accurate", *key) < c.hint_accuracy:
            hint = f"[hint:rule {missing[int(h * len(missing))]}]"
        else:
            hint = f"[hint:rule {int(h * c.rules)}]"
        return Rollout(task, attempt, "scored", 0, f"I could not settle one point {hint}.\nANSWER: unknown")

    # -- the simulated optimizer -----------------------------------------------------
    def propose(self, text: str, hints: list[tuple[str, int]], rng: random.Random, n: int = 1) -> list[Edit]:
        out: list[Edit] = []
        seen: set[tuple[str, str]] = set()
        for _ in range(n * 4):
            if len(out) >= n:
                break
            e = self._one(text, hints, rng)
            if (e.target, e.content) not in seen:
                seen.add((e.target, e.content))
                out.append(e)
        return out

    def _one(self, text: str, hints: list[tuple[str, int]], rng: random.Random) -> Edit:
        c = self.cfg
        covered, harms, _ = self.parse(text)
        u = rng.random() * (c.q_good + c.q_neutral + c.q_bad)
        if u < c.q_good:
            useful = [h for h in hints
                      if (h[0] == "rule" and h[1] not in covered and h[1] < c.rules)
                      or (h[0] == "harm" and h[1] in harms)]
            if useful:
                kind, k = rng.choice(useful)
                if kind == "harm":
                    return Edit("good", "delete", self._line(text, "HARM", k), "")
                anti = self._line(text, "ANTI", k)
                if anti:
                    return Edit("good", "replace", anti, rule_line(k))
                return Edit("good", "append", "", rule_line(k))
            return Edit("neutral", "append", "", note_line(rng.randrange(1000, 10**6)))
        if u < c.q_good + c.q_neutral:
            return Edit("neutral", "append", "", note_line(rng.randrange(1000, 10**6)))
        v = rng.random()
        present = sorted(covered)
        if v < 0.5 or not present:
            return Edit("bad", "append", "", harm_line(rng.randrange(1000, 10**6)))
        k = rng.choice(present)
        if v < 0.8:
            return Edit("bad", "delete", self._line(text, "RULE", k), "")
        return Edit("bad", "append", "", anti_line(k))

    @staticmethod
    def _line(text: str, kind: str, k: int) -> str:
        for line in text.split("\n"):
            m = MARK.match(line)
            if m and m.group(1) == kind and int(m.group(2)) == k:
                return line
        return ""

    def tasks_json(self) -> dict:
        def rows(split: str) -> list[dict]:
            return [{"id": t, "prompt": self.prompt(t), "answer": self.answers[t]} for t in self.splits[split]]
        return {"skill": self.seed_skill, **{s: rows(s) for s in self.splits}}

    @staticmethod
    def prompt(task: str) -> str:
        return f"TASK {task}: answer this rulebook task. End with a line 'ANSWER: <answer>'."

    def score_text(self, task: str, text: str) -> int | None:
        if text.startswith("INFRA_ERROR"):
            return None
        m = re.findall(r"^ANSWER: (\S+)", text, re.M)
        return int(bool(m) and m[-1] == self.answers[task])


# -- reading prompts of unknown programs ---------------------------------------------------
def skill_in(prompt: str) -> str:
    """The first skill document in a prompt: from its front matter (or title) to the first foreign line."""
    lines = prompt.split("\n")
    try:
        i = next(n for n, s in enumerate(lines) if s.strip() == TITLE)
    except StopIteration:
        return ""
    start = i
    front = FRONTMATTER.strip("\n").split("\n")
    for back in range(len(front), len(front) + 3):
        if i - back >= 0 and [s.strip() for s in lines[i - back:i - back + len(front)]] == front:
            start = i - back
            break
    end = i
    while end < len(lines) and SKILL_LINE.match(lines[end]):
        end += 1
    return "\n".join(lines[start:end]).rstrip("\n") + "\n"


class Optimizer:
    """Answers the optimizer prompts of SkillOpt, GEPA and of a program that uses plain edit lists."""

    def __init__(self, world: World, run: str = "0"):
        self.world = world
        self.run = run
        self.seen: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        self.proposed: list[dict] = []

    def _rng(self, prompt: str) -> random.Random:
        """Same prompt, same occurrence, same run: same draw, whatever the thread order."""
        h = hashlib.sha256(prompt.encode()).hexdigest()
        n = self.seen.get(h, 0)
        self.seen[h] = n + 1
        return random.Random(f"{self.world.cfg.seed}|{self.run}|{h}|{n}")

    def reply(self, system: str, user: str, model: str = "") -> str:
        role = self.role(system, user, model)
        self.calls[role] = self.calls.get(role, 0) + 1
        return getattr(self, "_" + role)(system, user)

    @staticmethod
    def role(system: str, user: str, model: str = "") -> str:
        name = model.rsplit("/", 1)[-1]
        if name in ("edits", "rewrite", "template"):
            return name
        if name == "hand-in":
            return "hand_in"
        if "expert failure-analysis agent" in system:
            return "so_error"
        if "expert success-pattern analyst" in system:
            return "so_success"
        if "skill-edit coordinator" in system:
            return "so_merge"
        if "RANK the edits" in system:
            return "so_rank"
        if "slow_update_content" in system:
            return "so_slow"
        if "meta_skill_content" in system:
            return "so_meta"
        if "Provide the new instructions within ```" in user:
            return "gepa"
        return "edits"

    def _draw(self, prompt: str, user: str, limit: int | None = None) -> tuple[str, list[Edit]]:
        text = skill_in(user)
        # A trajectory carries one hint; the same count decides how many edits are offered.
        hints = [(k, int(n)) for k, n in HINT.findall(user)]
        n = max(1, round(len(hints) / self.world.cfg.edits_per_failures))
        if limit is not None:
            n = min(n, limit)
        edits = self.world.propose(text, hints, self._rng(prompt), n)
        for e in edits:
            self.proposed.append({"kind": e.kind, **e.public()})
        return text, edits

    def _so_error(self, system: str, user: str) -> str:
        m = re.search(r"at most L=(\d+)", user)
        _, edits = self._draw(user, user, int(m.group(1)) if m else None)
        count = len(HINT.findall(user))
        return json.dumps({
            "batch_size": count,
            "failure_summary": [{"failure_type": "rule", "count": count, "description": "a convention was not known"}],
            "patch": {"reasoning": "simulated", "edits": [e.public() for e in edits]},
        })

    def _so_success(self, system: str, user: str) -> str:
        return json.dumps({"batch_size": 1, "success_patterns": [], "patch": {"reasoning": "covered", "edits": []}})

    def _so_merge(self, system: str, user: str) -> str:
        start = min((i for i in (user.find("\n[\n"), user.find("\n[{")) if i >= 0), default=-1)
        patches = json.JSONDecoder().raw_decode(user[start + 1:])[0] if start >= 0 else []
        merged: dict[tuple, dict] = {}
        for p in patches:
            for e in p.get("edits", []):
                key = (e.get("op"), e.get("target", ""), e.get("content", ""))
                if key in merged:
                    merged[key]["support_count"] += int(e.get("support_count") or 1)
                else:
                    merged[key] = {**e, "support_count": int(e.get("support_count") or 1)}
        return json.dumps({"reasoning": "deduplicated", "edits": list(merged.values())})

    def _so_rank(self, system: str, user: str) -> str:
        support = [int(n) for n in re.findall(r"^\[\d+\] .*?support=(\d+)", user, re.M)]
        total = len(re.findall(r"^\[\d+\] op=", user, re.M))
        support += [1] * (total - len(support))
        rng = self._rng(user)
        order = sorted(range(total), key=lambda i: (-support[i], rng.random()))
        return json.dumps({"reasoning": "by support", "selected_indices": order})

    def _so_slow(self, system: str, user: str) -> str:
        start = user.find("## Current Epoch's Skill")
        text = skill_in(user[start:])
        hints = [(k, int(n)) for k, n in HINT.findall(user)]
        block = re.search(r"<!-- SLOW_UPDATE_START -->\n?(.*?)<!-- SLOW_UPDATE_END -->", text, re.S)
        kept = block.group(1).strip("\n") if block else ""
        edit = self.world.propose(text, hints, self._rng(user), 1)[0]
        self.proposed.append({"kind": edit.kind, "slow": True, **edit.public()})
        line = edit.content or note_line(7)   # this block can add text, not remove rules
        return json.dumps({"reasoning": "simulated", "slow_update_content": (kept + "\n" + line).strip("\n")})

    def _so_meta(self, system: str, user: str) -> str:
        return json.dumps({"reasoning": "simulated", "meta_skill_content": "Prefer short rules."})

    def _gepa(self, system: str, user: str) -> str:
        return "```\n" + self._rewritten(user)[0] + "```"

    def _rewritten(self, user: str) -> tuple[str, list[Edit]]:
        text, edits = self._draw(user, user)
        for e in edits:
            text = apply_edit(text, e)
        return text, edits

    def _edits(self, system: str, user: str) -> str:
        m = re.search(r"at most (?:L=)?(\d+) edits?", user + "\n" + system)
        _, edits = self._draw(system + user, user, int(m.group(1)) if m else 1)
        return json.dumps({"reason": "simulated", "edits": [self._cited(e, user) for e in edits]})

    def _hand_in(self, system: str, user: str) -> str:
        """The same draw as for plain edit lists, in the form that skillopt's one-shot reflection asks for."""
        answer = json.loads(self._edits(system, user))
        ops = {"append": "append_section", "replace": "replace", "delete": "delete"}
        return json.dumps({"summary": answer["reason"], "edits": [
            {"op": ops[e["op"]], "target": e.get("target", ""), "content": e.get("content", ""),
             "cites": e["evidence"], "reason": "simulated"} for e in answer["edits"]]})

    @staticmethod
    def _cited(e: Edit, user: str) -> dict:
        """The edit with up to three failing tasks it answers: those whose trajectory named its rule first."""
        first, rest, task = [], [], ""
        for m in re.finditer(TASK.pattern + "|" + HINT.pattern, user):
            if m.group(1):
                task = m.group(1)
            elif task and task not in first + rest:
                named = f"{m.group(2).upper()} {m.group(3)}:" in e.content + e.target
                (first if named else rest).append(task)
        return {**e.public(), "evidence": (first + rest)[:3]}

    def _rewrite(self, system: str, user: str) -> str:
        return "<skill>\n" + self._rewritten(user)[0] + "</skill>"

    def _template(self, system: str, user: str) -> str:
        text, edits = self._draw(system + user, user)
        new = text
        for e in edits:
            new = apply_edit(new, e)
        return (self.world.cfg.reply_template
                .replace("$EDITS", json.dumps([self._cited(e, user) for e in edits]))
                .replace("$SKILL_JSON", json.dumps(new)).replace("$SKILL", new).replace("$REASON", "simulated"))


def describe(cfg: Config) -> dict:
    return asdict(cfg)
