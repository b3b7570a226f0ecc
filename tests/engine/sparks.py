"""Spark and Sail for the tests of one process, or a reason to skip.

Sail speaks Spark's protocol and dialect and answers in milliseconds, so that it takes the
many random examples; Spark itself, which needs Java, confirms a few of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from functools import lru_cache, wraps

import pytest

_OLDEST_JAVA = 17
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
_KEPT = []  # a Sail server that nobody holds shuts down, and its client retries for ever


def sail():
    """Return a session of Sail; one for the process."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("pysail", reason="pysail is not installed")
    return _sail()


def address():
    """Return where Sail listens."""
    _, port = _KEPT[0].listening_address
    return f"sc://127.0.0.1:{port}"


def spark():
    """Return a session of Spark in local mode; one for the process."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    reason = _why_no_java()
    if reason:
        pytest.skip(reason)
    return _spark()


@lru_cache
def _sail():
    os.environ.setdefault("RUST_LOG", "off")
    # Starting Java forks; what gRPC does in the child then has killed it once.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pysail.spark import SparkConnectServer
        from pyspark.sql import SparkSession

        server = SparkConnectServer(ip="127.0.0.1", port=0)
        server.start(background=True)
        _KEPT.append(server)
        _, port = server.listening_address
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    for name in ("to_table", "execute_command"):
        setattr(session.client, name, _again(getattr(session.client, name)))
    # A process is for Connect or for Spark itself; this one has both.
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)
    return session


def _again(ask):
    """Ask once more when an answer could not be parsed.

    Seen once in ten thousand statements on a busy machine, and not when asked again.
    """

    @wraps(ask)
    def patient(*args, **named):
        try:
            return ask(*args, **named)
        except Exception as error:
            if "deserializing" not in str(error):
                raise
            return ask(*args, **named)

    return patient


@lru_cache
def _spark():
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)
    folder = tempfile.mkdtemp(prefix="sfspark")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession

        builder = (
            SparkSession.builder.master("local[2]")
            .appName("sfumato")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.default.parallelism", "1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.warehouse.dir", folder)
            .config("spark.local.dir", folder)
            .config("spark.log.level", "OFF")
            .config("spark.sql.adaptive.enabled", "false")
            # Statements that run once are compiled once: no time for a second compiler.
            .config("spark.driver.extraJavaOptions", _JAVA)
        )
        try:
            return builder.getOrCreate()
        except PySparkRuntimeError as error:
            if "JAVA_GATEWAY_EXITED" not in str(error):
                raise
            return builder.getOrCreate()  # Java died while it started: once more


@lru_cache
def _why_no_java():
    """Return why Spark cannot run here, or nothing."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    if java is None:
        return "no Java: apt-get install openjdk-17-jre-headless"
    told = subprocess.run(
        [java, "-XshowSettings:properties", "-version"], capture_output=True, text=True
    ).stderr
    version = next(
        (line.split("=")[1].strip() for line in told.splitlines() if "java.specification.version =" in line),
        "0",
    )  # fmt: skip
    if float(version) < _OLDEST_JAVA:
        return f"Spark needs Java {_OLDEST_JAVA}, and here is {version}"
    return ""
