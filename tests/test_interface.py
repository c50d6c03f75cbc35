"""docs/interface.txt records the public interface; a change of it is a decision."""

import pytest

from seraph import SERAPH
from tests.helpers.public import PACKAGES, PUBLIC, tool

pytest.importorskip("typer")
interface = tool("interface")


@pytest.fixture(scope="module")
def now():
    return interface.interface()


def test_the_interface_is_the_recorded_one(now):
    recorded = interface.RECORD.read_text(encoding="utf-8").splitlines()
    said = "\n".join(interface.changes(recorded, now))
    assert recorded == now, (
        "the public interface has changed (docs/production.md says how it may). If you mean it:\n"
        f"1. {interface.RENEW}\n2. Add to CHANGELOG.md, in the words of a user:\n{said}"
    )


def test_every_public_name_parameter_and_option_is_recorded(now):
    assert set(interface.public_modules()) == set(PACKAGES)
    assert {line.partition(" = ")[0] for line in now} >= PUBLIC
    for name, value in SERAPH().get_params().items():
        assert f"seraph.SERAPH(*, {name}={value!r})" in now
    assert {"seraph.SERAPH.components_", "seraph.Marks.from_frame(frame)"} <= set(now)
    assert {"seraph fit --label=None", "seraph fit DATA"} <= set(now)


def test_nothing_private_and_no_address_is_recorded(now):
    assert [line for line in now if "._" in line and "__version__" not in line] == []
    assert [line for line in now if " at 0x" in line] == []
    assert len(set(now)) == len(now)
