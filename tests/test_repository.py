"""The files around the package agree: workflows, Makefile, instructions, what git ignores."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from seraph import __version__

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


def workflow(name):
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    # YAML 1.1, which GitHub does not follow here, reads the key `on` as true.
    return yaml.safe_load(re.sub(r"(?m)^on:", "triggers:", text))


def included(extra):
    """Return the extras that an extra stands for, itself among them."""
    found = {extra}
    for requirement in EXTRAS[extra]:
        if named := re.match(r"seraph-learn\[([\w,]+)\]", requirement):
            found = found.union(*map(included, named[1].split(",")))
    return found


def needed(jobs, name):
    """Return all jobs that must succeed before a job starts."""
    first = jobs[name].get("needs", [])
    first = [first] if isinstance(first, str) else first
    return set(first).union(*(needed(jobs, job) for job in first))


def test_one_extra_has_all_others():
    assert included("all") == set(EXTRAS)


@pytest.mark.parametrize("name", ["Makefile", "CONTRIBUTING.md", ".github/workflows/tests.yml"])
def test_whatever_runs_the_tests_installs_that_extra(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    installed = re.findall(r'-e "\.\[([\w,]+)\]" --group (?:test|dev)', text)
    assert set(installed) == {"all"}


def test_a_release_needs_the_tests():
    jobs = workflow("release.yml")["jobs"]
    called = {jobs[name].get("uses") for name in needed(jobs, "publish")}
    assert "./.github/workflows/tests.yml" in called
    assert "workflow_call" in workflow("tests.yml")["triggers"]


def test_what_the_targets_and_the_demos_leave_behind_is_not_committed(tmp_path):
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8")
    (tmp_path / ".gitignore").write_text(ignored, encoding="utf-8")
    made = [".venv-3.13/bin/python", "seraph-demo/answers.csv", "demo.png", "dist/a.whl"]
    for name in (".venv", *made):  # .venv as a file stands for one that is a link
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    done = subprocess.run(status, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["??", ".gitignore"]


def uses():
    """Return every action that a workflow uses, as written."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / ".github").rglob("*.yml")]
    return [found for text in texts for found in re.findall(r"(?m)uses: (\S+.*)$", text)]


def test_actions_of_others_are_pinned_by_commit_and_say_which_release_that_is():
    others = [used for used in uses() if not used.startswith("./")]
    assert len(others) > 20
    wrong = [u for u in others if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", u)]
    assert wrong == []
    releases = {}
    for used in others:
        action, commit = used.split("@")
        releases.setdefault("/".join(action.split("/")[:2]), set()).add(commit)
    assert {action for action, found in releases.items() if len(found) > 1} == set()


def test_files_that_name_the_version_name_one():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    codemeta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"(?m)^## (\S+)", changes)[1]
    assert citation["version"] == codemeta["version"] == newest == __version__


def test_only_test_files_whose_imports_are_installed_are_listed(tmp_path):
    (tmp_path / "test_here.py").write_text("import numpy\nfrom tests.helpers import oracle\n")
    (tmp_path / "test_not_here.py").write_text("def test():\n    import no_such_package\n")
    tool = [sys.executable, str(ROOT / "tools" / "installed_tests.py"), str(tmp_path)]
    done = subprocess.run(tool, check=True, capture_output=True, text=True)
    assert [Path(line).name for line in done.stdout.splitlines()] == ["test_here.py"]


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [f"python{project['requires-python']}", *project["dependencies"]]
    assert [line.replace(" ", "") for line in recipe["requirements"]["run"]] == needed
    assert recipe["context"]["version"] == __version__
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {target}" for name, target in project["scripts"].items()
    ]
