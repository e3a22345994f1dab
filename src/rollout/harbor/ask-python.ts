/**
 * What Harbor's own Python is asked, with a question as JSON on stdin: which environments and agents it has, what the
 * environment in question lacks, whether the agent takes a skill, and how Docker's walls around the network are probed.
 * Each part answers by itself: what another Harbor does not know is left out. The answer is one line behind `ANSWER`,
 * since what is imported may print, too.
 */
export const ANSWER = 'skillopt-answer ';

export const askPython = `
import importlib.metadata as metadata, json, sys
wanted = json.load(sys.stdin)
told = {"problems": {}}

def part(name):
    def run(look):
        try:
            told[name] = look()
        except BaseException as error:
            told["problems"][name] = f"{type(error).__name__}: {error}"
    return run

from harbor.agents.factory import AgentFactory
from harbor.environments import factory as environments
from harbor.environments.factory import EnvironmentFactory
from harbor.models.environment_type import EnvironmentType
from harbor.models.trial.config import AgentConfig

def missing(extra):
    from packaging.requirements import Requirement
    lacking = []
    for line in metadata.requires("harbor") or []:
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate({"extra": ""}) or not need.marker.evaluate({"extra": extra}):
            continue
        try:
            metadata.version(need.name)
        except metadata.PackageNotFoundError:
            lacking.append(need.name)
    return lacking

@part("environments")
def _():
    return EnvironmentFactory.registered_names()

@part("agents")
def _():
    return AgentFactory.registered_names()

environment, agent = wanted["environment"], wanted["agent"]
known = environment.get("type") in told.get("environments", [])

@part("extra")
def _():
    name = environment.get("type")
    extra = environments._ENVIRONMENT_REGISTRY[EnvironmentType(name)].pip_extra if known else None
    return None if extra is None else {"name": extra, "missing": missing(extra)}

@part("refusal")
def _():
    if not environment["asked"] or not (known or environment.get("importPath")):
        return None
    try:
        EnvironmentFactory.run_preflight(
            type=EnvironmentType(environment["type"]) if known else None,
            import_path=environment.get("importPath"),
            kwargs=environment["kwargs"],
        )
    except SystemExit as end:
        return str(end)
    except ImportError as error:
        return str(error)
    except ValueError as error:
        return str(error)
    return None

def takes_skills(config):
    return bool(AgentFactory.get_agent_class_from_config(config).capabilities.skills)

@part("takesSkill")
def _():
    return takes_skills(AgentConfig(name=agent.get("name"), import_path=agent.get("importPath")))

@part("skillAgents")
def _():
    if told.get("takesSkill") is not False or not agent["others"]:
        return None
    found = []
    for name in told["agents"]:
        try:
            if takes_skills(AgentConfig(name=name)):
                found.append(name)
        except Exception:
            pass
    return found

@part("networkProbe")
def _():
    from harbor.environments.docker.docker import DockerEnvironment as docker
    return {"image": docker._EGRESS_CONTROL_KERNEL_PROBE_IMAGE, "script": docker._EGRESS_CONTROL_KERNEL_PROBE_SCRIPT}

print()
print("${ANSWER}" + json.dumps(told))
`;
