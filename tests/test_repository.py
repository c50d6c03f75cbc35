"""The files around the package agree: workflows, Makefile, instructions, what git ignores."""

import json
import re
import tomllib
from pathlib import Path

import yaml

from seraph import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


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


def test_one_extra_has_all_others_but_torch():
    assert included("all") == set(EXTRAS) - {"torch"}


def test_a_release_needs_the_tests():
    jobs = workflow("release.yml")["jobs"]
    called = {jobs[name].get("uses") for name in needed(jobs, "publish")}
    assert "./.github/workflows/tests.yml" in called
    assert "workflow_call" in workflow("tests.yml")["triggers"]


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


def test_the_readme_leads_to_pages_of_the_site_that_are_there():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(rf"{PROJECT['urls']['Documentation']}/en/latest/(\w+).html#?([\w-]*)", text)
    assert len(links) > 10
    for page, anchor in links:
        lines = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").splitlines()
        headings = [line.lstrip("# ").lower() for line in lines if line.startswith("#")]
        assert not anchor or anchor in [re.sub(r"\W+", "-", heading) for heading in headings]


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    needed = [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
    run = [
        line.replace("${{ python_min }}", recipe["context"]["python_min"])
        for line in recipe["requirements"]["run"]
    ]
    assert [line.replace(" ", "") for line in run] == needed
    assert recipe["context"]["version"] == __version__
    commands = {f"{name} = {target}" for name, target in PROJECT["scripts"].items()}
    assert set(recipe["build"]["python"]["entry_points"]) == commands
    bounds = {re.sub(r".*\s", "", line) for line in recipe["requirements"]["run_constraints"]}
    extras = {one for extra in EXTRAS.values() for one in extra if not one.startswith("seraph")}
    assert bounds == {re.sub(r"^[^>]*", "", one) for one in extras}


def test_every_file_of_data_has_its_license():
    """What others made is listed in REUSE.toml, apart from what the project made."""
    listed = tomllib.loads((ROOT / "REUSE.toml").read_text(encoding="utf-8"))["annotations"]
    paths = [
        path
        for one in listed[1:]
        for path in ([one["path"]] if isinstance(one["path"], str) else one["path"])
    ]
    data = [
        *ROOT.glob("docs/data/*.[cx]*"),
        *ROOT.glob("benchmarks/paper/data/*.npz"),
        ROOT / "benchmarks/paper/published.csv",
    ]
    names = {file.relative_to(ROOT) for file in data} - {
        Path(f"benchmarks/paper/data/{name}.npz") for name in ("diabetes", "usps")
    }
    assert len(names) > 6
    assert [name for name in names if not any(name.match(path) for path in paths)] == []
    assert [path for path in paths if not list(ROOT.glob(path))] == []
