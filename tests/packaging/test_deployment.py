"""The container files say what the code really has: commands, options, settings, ports, folders, versions.

No container is built here, because that needs an engine and a network; what would be wrong in one can be read.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from hmc_crowd._base.serving import HEALTH

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
CADDY = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
EXAMPLE = (DEPLOY / "env.example").read_text(encoding="utf-8")
SOURCES = "".join(
    path.read_text(encoding="utf-8") for top in ("hmc_crowd", "adapters") for path in (ROOT / top).rglob("*.py")
)
SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|(?<!WORKER_)KEY$")
# What is read by somebody else than us, and by whom.
FOREIGN = {
    "PGPASSWORD": "libpq",
    "FORWARDED_ALLOW_IPS": "uvicorn",
    "POSTGRES_USER": "the image of PostgreSQL",
    "POSTGRES_DB": "the image of PostgreSQL",
    "POSTGRES_PASSWORD": "the image of PostgreSQL",
    "PYTHONUNBUFFERED": "Python",
    "PYTHONDONTWRITEBYTECODE": "Python",
    "MPLCONFIGDIR": "matplotlib",
    "XDG_CONFIG_HOME": "the keys of the pseudonyms and of the workplace",
    "HMC_CROWD_HOST": "Caddyfile and compose.yaml",
    "HMC_CROWD_WORKERS": "compose.yaml",
}
VARIABLE = re.compile(r"\$\{(?P<name>[A-Z_]+)(?::(?P<kind>[-?])(?P<word>[^}]*))?\}")


def instructions() -> list[tuple[str, str]]:
    """The Containerfile's instructions with their arguments, lines joined."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found = [tuple(line.split(None, 1)) for line in joined.splitlines()]
    return [(name, " ".join(words.split())) for name, words in found]


FILE = instructions()
_STARTS = [index for index, (name, _) in enumerate(FILE) if name == "FROM"]
STAGES = [FILE[start:end] for start, end in zip(_STARTS, [*_STARTS[1:], len(FILE)], strict=True)]
LAST = STAGES[-1]


def last(name: str) -> str:
    """The argument of the last stage's only instruction of that name."""
    (found,) = [words for each, words in LAST if each == name]
    return found


def words_of(exec_form: str) -> list[str]:
    found: list[str] = yaml.safe_load(exec_form)
    return found


def environment(service: str) -> dict[str, str]:
    return {name: str(value) for name, value in SERVICES[service].get("environment", {}).items()}


def set_in_the_image() -> dict[str, str]:
    pairs = shlex.split(" ".join(words for name, words in FILE if name == "ENV"))
    return dict(each.split("=", 1) for each in pairs)


def is_known(name: str) -> bool:
    """Whether the code reads a setting; those of Prolific are put together from a prefix."""
    if name in FOREIGN:
        return True
    prefix, rest = "HMC_CROWD_PROLIFIC_", name.removeprefix("HMC_CROWD_PROLIFIC_")
    if name != rest:
        return f'"{prefix}"' in SOURCES and f"{{_PREFIX}}{rest}" in SOURCES
    return f'"{name}"' in SOURCES


# The image.


def test_the_python_of_the_image_is_one_that_the_project_names() -> None:
    (argument,) = [words for name, words in FILE if name == "ARG"]
    version = argument.removeprefix("PYTHON=")
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))
    assert {stage[0][1].split()[0] for stage in STAGES} == {"python:${PYTHON}-slim"}


def test_the_build_gets_all_that_the_wheel_is_made_of() -> None:
    copied = {word for name, words in STAGES[0] if name == "COPY" for word in words.split()[:-1]}
    build = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*build["packages"], *build["force-include"], PROJECT["readme"], *PROJECT["license-files"]}
    assert [each for each in needed if not any(each == one or each.startswith(f"{one}/") for one in copied)] == []
    assert [each for each in copied if not (ROOT / each).exists()] == []
    assert "pyproject.toml" in copied


def test_both_stages_install_the_same_extras_and_all_of_them_exist() -> None:
    runs = [words for name, words in FILE if name == "RUN" and "pip" in words]
    extras = [re.search(r"\[([a-z,]+)\]", words)[1].split(",") for words in runs]  # type: ignore[index]
    assert extras[0] == extras[1]
    assert set(extras[0]) <= set(PROJECT["optional-dependencies"])
    assert {"web", "postgres"} <= set(extras[0])
    assert "--no-index" in runs[1]


def test_nobody_works_as_root_and_nothing_writable_is_the_images() -> None:
    user = last("USER").split(":")
    assert all(each.isdecimal() and int(each) > 0 for each in user)
    made = " ".join(words for name, words in LAST if name == "RUN")
    assert f"--uid {user[0]} " in made
    for folder in words_of(last("VOLUME")):
        assert folder in made
    written = {set_in_the_image()[name] for name in ("HMC_CROWD_ARTEFACTS", "XDG_CONFIG_HOME")}
    assert all(each.startswith("/data/") for each in written)


def test_no_secret_is_in_the_image() -> None:
    names = [words.split("=")[0] for name, words in FILE if name == "ARG"] + list(set_in_the_image())
    assert [name for name in names if SECRET.search(name)] == []


def test_the_image_runs_a_command_that_exists() -> None:
    assert words_of(last("ENTRYPOINT")) == list(PROJECT["scripts"])
    understood(words_of(last("CMD")))


def test_the_health_check_asks_what_is_always_answered() -> None:
    address = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", last("HEALTHCHECK"))
    assert address is not None
    assert address[2] == HEALTH
    assert address[1] == last("EXPOSE")


# The services.


def understood(command: list[str]) -> dict[str, Any]:
    """Let the command line read a command; it refuses options that it does not have."""
    import typer

    from hmc_crowd.cli._app import app

    group: Any = typer.main.get_command(app)
    name, found, rest = group.resolve_command(group.make_context("hmc-crowd", [], resilient_parsing=True), command)
    assert name == command[0]
    given: dict[str, Any] = found.make_context(name, rest, resilient_parsing=False).params
    return given


def filled(word: str) -> str:
    """A word of compose.yaml with every variable as somebody would set it."""
    plain = {"HMC_CROWD_HOST": "work.example.org"}
    return VARIABLE.sub(
        lambda found: plain.get(found["name"]) or (found["word"] if found["kind"] == "-" else "x" * 20), word
    )


def test_the_server_is_started_with_options_that_it_has() -> None:
    given = understood([filled(each) for each in SERVICES["app"]["command"]])
    assert given["public_url"] == "https://work.example.org"
    assert given["workers"] == 2
    assert str(given["port"]) == last("EXPOSE")
    assert SERVICES["app"]["expose"] == [str(given["port"])]


def test_the_proxy_leads_to_the_servers_port_and_passes_the_host_on() -> None:
    assert f"reverse_proxy app:{last('EXPOSE')} {{" in CADDY
    assert "header_up Host {host}" in CADDY
    assert f"health_uri {HEALTH}" in CADDY
    assert CADDY.count("{") == CADDY.count("}")
    assert "{$HMC_CROWD_HOST}" in CADDY
    assert "HMC_CROWD_HOST" in environment("proxy")


def test_what_is_tried_in_the_comments_exists() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    commands = [line.split("run --rm app ", 1)[1] for line in text.splitlines() if "run --rm app " in line]
    assert len(commands) == 3
    for each in commands:
        understood(shlex.split(re.split(r"\s{2,}", each)[0]))


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_every_setting_is_read_by_somebody(service: str) -> None:
    assert [name for name in environment(service) if not is_known(name)] == []


def test_every_setting_of_the_image_is_read_by_somebody() -> None:
    assert [name for name in set_in_the_image() if not is_known(name)] == []


def test_no_secret_stands_in_a_file() -> None:
    for service in SERVICES:
        for name, value in environment(service).items():
            assert not SECRET.search(name) or VARIABLE.fullmatch(value), name
    for line in EXAMPLE.splitlines():
        name, _, value = line.partition("=")
        assert not SECRET.search(name) or not value, name
    assert not re.search(r"://[^/\s]*:[^/\s@]+@", (DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def test_every_variable_stands_in_the_example_and_those_without_default_are_asked_for() -> None:
    used = list(VARIABLE.finditer((DEPLOY / "compose.yaml").read_text(encoding="utf-8")))
    offered = dict(line.split("=", 1) for line in EXAMPLE.splitlines() if "=" in line and not line.startswith("#"))
    assert {each["name"] for each in used} == set(offered)
    asked = {each["name"] for each in used if each["kind"] == "?"}
    assert asked == {"HMC_CROWD_HOST", "POSTGRES_PASSWORD"}
    assert {each["name"] for each in used if each["kind"] is None} <= asked
    for each in used:
        if each["kind"] == "-":
            assert offered[each["name"]] == each["word"], each["name"]


def test_only_the_proxy_can_be_reached_from_outside() -> None:
    assert [name for name, each in SERVICES.items() if "ports" in each] == ["proxy"]
    assert SERVICES["postgres"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert "inside" not in SERVICES["proxy"]["networks"]


def test_whoever_waits_for_health_waits_for_somebody_who_tells_it() -> None:
    for each in SERVICES.values():
        for other, how in each.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert "healthcheck" in SERVICES[other] or (other == "app" and last("HEALTHCHECK"))


def test_volumes_are_declared_and_everything_that_lasts_has_one() -> None:
    mounted = [each.split(":") for service in SERVICES.values() for each in service.get("volumes", [])]
    named = {parts[0] for parts in mounted if not parts[0].startswith(".")}
    assert named == set(COMPOSE["volumes"])
    for source, *_ in mounted:
        assert not source.startswith(".") or (DEPLOY / source).is_file()
    inside = {each.split(":")[1] for each in SERVICES["app"]["volumes"]}
    assert inside == set(words_of(last("VOLUME")))


def test_the_services_keep_to_themselves() -> None:
    for name in ("app", "proxy"):
        assert SERVICES[name]["read_only"] is True
        assert SERVICES[name]["cap_drop"] == ["ALL"]
    assert all("no-new-privileges:true" in each["security_opt"] for each in SERVICES.values())
    assert set_in_the_image()["MPLCONFIGDIR"].startswith("/tmp/")
    assert SERVICES["app"]["tmpfs"] == ["/tmp"]


def test_the_image_is_built_from_this_project_and_named_after_its_version() -> None:
    build = SERVICES["app"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert ROOT / build["dockerfile"] == DEPLOY / "Containerfile"
    assert SERVICES["app"]["image"] == f"{PROJECT['name']}:{PROJECT['version']}"


def test_the_server_has_longer_to_end_than_its_requests() -> None:
    from hmc_crowd.cli._serving import _GRACE_S

    assert int(SERVICES["app"]["stop_grace_period"].removesuffix("s")) > _GRACE_S
