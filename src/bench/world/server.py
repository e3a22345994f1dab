"""Serves rulebook worlds as OpenAI-compatible chat models on the loopback address.

    python3 server.py [--port 8790]

Standard library only.  See README.md for the contract.
"""
from __future__ import annotations

import argparse
import asyncio
import json
import time

from world import Config, Optimizer, TASK, World, describe, skill_hash, skill_in


class Session:
    """One world with its counters; every run of a program should create its own."""

    def __init__(self, cfg: Config):
        self.world = World(cfg)
        self.optimizer = Optimizer(self.world)
        self.attempts: dict[tuple[str, str], int] = {}
        self.rollouts = {"total": 0, "errored": 0, "train": 0, "selection": 0, "test": 0}
        self.unreadable = 0
        self.in_flight = 0
        self.peak = 0
        self.log: list[dict] = []


class Server:
    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.made = 0

    def create(self, data: dict) -> str:
        self.made += 1
        name = f"w{self.made}"
        self.sessions[name] = Session(Config.from_json(data))
        return name

    async def handle(self, method: str, path: str, body: bytes) -> tuple[int, dict]:
        data = json.loads(body) if body else {}
        parts = path.split("?")[0].strip("/").split("/")
        if parts == ["worlds"] and method == "POST":
            name = self.create(data)
            return 200, {"id": name, "base": f"/w/{name}/v1", "config": describe(self.sessions[name].world.cfg)}
        if parts[0] == "w" and len(parts) >= 3 and parts[1] in self.sessions:
            s = self.sessions[parts[1]]
            tail = parts[2:]
            if tail == ["tasks"]:
                return 200, s.world.tasks_json()
            if tail == ["stats"]:
                return 200, {"rollouts": s.rollouts, "optimizer_calls": s.optimizer.calls,
                             "unreadable_optimizer_prompts": s.unreadable, "peak_in_flight": s.peak,
                             "proposed": s.optimizer.proposed}
            if tail == ["forget"] and method == "POST":
                del self.sessions[parts[1]]
                return 200, {}
            if tail == ["log"]:
                return 200, {"rollouts": s.log}
            if tail == ["truth"] and method == "POST":
                w = s.world
                text = data["skill"]
                out = {sp: w.true_score(text, sp) for sp in ("train", "selection", "test", "all")}
                covered, harms, notes = w.parse(text)
                out |= {"seed_test": w.true_score(w.seed_skill), "best_test": w.best_possible(),
                        "rules": sorted(covered), "harms": len(harms), "notes": notes}
                if "before" in data:
                    out["gain"] = w.gain(data["before"], text)
                return 200, out
            if tail == ["v1", "models"]:
                return 200, {"object": "list", "data": [{"id": m, "object": "model"} for m in
                             ("target", "optimizer", "optimizer/edits", "optimizer/rewrite", "optimizer/template")]}
            if tail == ["v1", "chat", "completions"] and method == "POST":
                return await self.chat(s, data)
        return 404, {"error": {"message": "not found", "type": "not_found"}}

    async def chat(self, s: Session, data: dict) -> tuple[int, dict]:
        system, user = "", ""
        for m in data["messages"]:
            content = m.get("content") or ""
            if isinstance(content, list):
                content = "\n".join(p.get("text", "") for p in content)
            if m["role"] in ("system", "developer"):
                system += content + "\n"
            else:
                user += content + "\n"
        model = str(data.get("model", ""))
        if "a check of the connection" in system:  # the short call before a session: no draw of the world
            return 200, completion(model, user.rsplit(": ", 1)[-1].strip(), system + user)
        if model.startswith("target"):
            return await self.target(s, system, user, data)
        if not skill_in(user):
            s.unreadable += 1
        text = s.optimizer.reply(system, user, model)
        if s.world.cfg.optimizer_latency_ms:
            await asyncio.sleep(s.world.cfg.optimizer_latency_ms / 1000)
        return 200, completion(model, text, system + user)

    async def target(self, s: Session, system: str, user: str, data: dict) -> tuple[int, dict]:
        match = TASK.search(user)
        if not match or match.group(1) not in s.world.needs:
            return 400, {"error": {"message": "no known 'TASK <id>' in the user message", "type": "invalid_request"}}
        task = match.group(1)
        skill = skill_in(system + "\n" + user)
        key = (task, skill_hash(skill))
        if data.get("seed") is not None:
            attempt = int(data["seed"])
        else:
            attempt = s.attempts.get(key, 0)
            s.attempts[key] = attempt + 1
        s.in_flight += 1
        s.peak = max(s.peak, s.in_flight)
        if s.world.cfg.latency_ms:
            await asyncio.sleep(s.world.cfg.latency_ms / 1000)
        s.in_flight -= 1
        r = s.world.rollout(skill, task, attempt)
        s.rollouts["total"] += 1
        s.rollouts[task.split("-")[0]] += 1
        s.log.append({"task": task, "skill": key[1], "attempt": attempt, "status": r.status, "reward": r.reward})
        if r.status == "errored":
            s.rollouts["errored"] += 1
            if s.world.cfg.infra_mode == "http":
                return 503, {"error": {"message": r.text, "type": "infra"}}
        return 200, completion(str(data.get("model")), r.text, system + user)


def completion(model: str, text: str, prompt: str) -> dict:
    used, made = len(prompt) // 4, len(text) // 4
    return {"id": "cmpl", "object": "chat.completion", "created": int(time.time()), "model": model,
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": used, "completion_tokens": made, "total_tokens": used + made}}


async def connection(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            method, path, _ = first.split(" ", 2)
            headers = {k.strip().lower(): v.strip() for k, _, v in (ln.partition(":") for ln in lines if ln)}
            body = await reader.readexactly(int(headers.get("content-length", "0") or 0))
            try:
                status, out = await server.handle(method, path, body)
            except Exception as e:  # a bad request must not end the server
                status, out = 400, {"error": {"message": f"{type(e).__name__}: {e}", "type": "invalid_request"}}
            payload = json.dumps(out).encode()
            writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
                         f"Content-Length: {len(payload)}\r\n\r\n".encode() + payload)
            await writer.drain()
            if headers.get("connection", "").lower() == "close":
                break
    except (asyncio.IncompleteReadError, ConnectionResetError, BrokenPipeError):
        pass
    finally:
        writer.close()


async def serve(port: int) -> None:
    server = Server()
    s = await asyncio.start_server(lambda r, w: connection(server, r, w), "127.0.0.1", port, limit=1 << 24)
    print(f"listening on 127.0.0.1:{s.sockets[0].getsockname()[1]}", flush=True)
    async with s:
        await s.serve_forever()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--port", type=int, default=8790)
    try:
        asyncio.run(serve(ap.parse_args().port))
    except KeyboardInterrupt:
        pass
