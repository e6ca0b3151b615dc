"""Our messages against HBase's own: every name, number, type, label and default."""

from __future__ import annotations

import zipfile
from importlib import resources
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from grpc_tools import protoc

from webtable.local.hbase_jars import hbase_jars
from webtable.store.hbase.proto import (
    admin_pb2,
    base_pb2,
    chores_pb2,
    client_pb2,
    filter_pb2,
    logs_pb2,
    master_pb2,
    registry_pb2,
    rpc_pb2,
    status_pb2,
)

OURS = (
    admin_pb2,
    base_pb2,
    chores_pb2,
    client_pb2,
    filter_pb2,
    logs_pb2,
    master_pb2,
    registry_pb2,
    rpc_pb2,
    status_pb2,
)
Messages = dict[str, DescriptorProto]
Enums = dict[str, EnumDescriptorProto]


def collect(files: list[FileDescriptorProto]) -> tuple[Messages, Enums]:
    """Returns all messages and enums by their names without the package."""
    messages: Messages = {}
    enums: Enums = {}

    def walk(path: str, message: DescriptorProto) -> None:
        messages[path] = message
        for inner in message.nested_type:
            walk(f"{path}.{inner.name}", inner)
        enums.update((f"{path}.{enum.name}", enum) for enum in message.enum_type)

    for file in files:
        for message in file.message_type:
            walk(message.name, message)
        enums.update((enum.name, enum) for enum in file.enum_type)
    return messages, enums


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> tuple[Messages, Enums]:
    folder = tmp_path_factory.mktemp("proto")
    (jar,) = hbase_jars(print).glob("hbase-protocol-shaded-*.jar")
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.endswith(".proto") and "/" not in name:
                text = archive.read(name).decode()
                # The jar carries protobuf's own files under a shaded path, without the files.
                text = text.replace("org/apache/hbase/thirdparty/google", "google")
                folder.joinpath(name).write_text(text)
    out = folder / "all.bin"
    theirs = resources.files("grpc_tools").joinpath("_proto")
    wanted = ["Admin.proto", "Client.proto", "Master.proto", "RPC.proto", "Registry.proto"]
    wanted += ["ZooKeeper.proto", "Comparator.proto", "Cell.proto"]
    command = ["protoc", f"-I{folder}", f"-I{theirs}", f"--descriptor_set_out={out}"]
    assert protoc.main([*command, "--include_imports", *wanted]) == 0
    return collect(list(FileDescriptorSet.FromString(Path(out).read_bytes()).file))


@pytest.fixture(scope="module")
def ours() -> tuple[Messages, Enums]:
    files = [FileDescriptorProto() for _ in OURS]
    for module, file in zip(OURS, files, strict=True):
        module.DESCRIPTOR.CopyToProto(file)
    return collect(files)


def described(field: FieldDescriptorProto, package: str) -> tuple[object, ...]:
    kind = field.type_name.removeprefix(f".{package}.")
    return (field.name, field.number, field.type, field.label, kind, field.default_value)


def test_every_field_is_hbases(
    ours: tuple[Messages, Enums], upstream: tuple[Messages, Enums]
) -> None:
    compared = 0
    for name, message in ours[0].items():
        theirs = {field.number: field for field in upstream[0][name].field}
        for field in message.field:
            assert field.number in theirs, f"{name}.{field.name}"
            expected = described(theirs[field.number], "hbase.pb")
            assert described(field, "webtable.hbase") == expected, name
            compared += 1
    assert compared > 200


def test_every_required_field_is_there(
    ours: tuple[Messages, Enums], upstream: tuple[Messages, Enums]
) -> None:
    for name, message in ours[0].items():
        known = {field.name for field in message.field}
        for field in upstream[0][name].field:
            if field.label == FieldDescriptorProto.LABEL_REQUIRED:
                assert field.name in known, f"{name}.{field.name}"


def test_every_enum_value_is_hbases(
    ours: tuple[Messages, Enums], upstream: tuple[Messages, Enums]
) -> None:
    for name, enum in ours[1].items():
        theirs = {value.name: value.number for value in upstream[1][name].value}
        assert {value.name: value.number for value in enum.value} == theirs, name


def test_generated_code_is_up_to_date(tmp_path: Path) -> None:
    source = resources.files("webtable.store.hbase.proto")
    root = Path(str(source)).parents[3]
    protos = sorted(Path(str(source)).glob("*.proto"))
    command = ["protoc", f"-I{root}", f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    assert protoc.main([*command, *map(str, protos)]) == 0
    made = sorted(tmp_path.rglob("*_pb2.py*"))
    assert len(made) == 2 * len(protos)
    for file in made:
        kept = root / file.relative_to(tmp_path)
        assert _body(kept.read_text()) == _body(file.read_text()), kept.name


def _body(text: str) -> str:
    # The compiler's version stands in the head and in a call; the messages are all after it.
    return text.partition("@@protoc_insertion_point")[2] or text
