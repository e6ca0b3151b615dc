from webtable.store.hbase.proto import base_pb2 as _base_pb2
from webtable.store.hbase.proto import status_pb2 as _status_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GenericExceptionMessage(_message.Message):
    __slots__ = ("class_name", "message")
    CLASS_NAME_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    class_name: str
    message: str
    def __init__(self, class_name: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ForeignExceptionMessage(_message.Message):
    __slots__ = ("source", "generic_exception")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    GENERIC_EXCEPTION_FIELD_NUMBER: _ClassVar[int]
    source: str
    generic_exception: GenericExceptionMessage
    def __init__(self, source: _Optional[str] = ..., generic_exception: _Optional[_Union[GenericExceptionMessage, _Mapping]] = ...) -> None: ...

class GetProcedureResultRequest(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class GetProcedureResultResponse(_message.Message):
    __slots__ = ("state", "exception")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NOT_FOUND: _ClassVar[GetProcedureResultResponse.State]
        RUNNING: _ClassVar[GetProcedureResultResponse.State]
        FINISHED: _ClassVar[GetProcedureResultResponse.State]
    NOT_FOUND: GetProcedureResultResponse.State
    RUNNING: GetProcedureResultResponse.State
    FINISHED: GetProcedureResultResponse.State
    STATE_FIELD_NUMBER: _ClassVar[int]
    EXCEPTION_FIELD_NUMBER: _ClassVar[int]
    state: GetProcedureResultResponse.State
    exception: ForeignExceptionMessage
    def __init__(self, state: _Optional[_Union[GetProcedureResultResponse.State, str]] = ..., exception: _Optional[_Union[ForeignExceptionMessage, _Mapping]] = ...) -> None: ...

class CreateTableRequest(_message.Message):
    __slots__ = ("table_schema", "split_keys", "nonce_group", "nonce")
    TABLE_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    SPLIT_KEYS_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    table_schema: _base_pb2.TableSchema
    split_keys: _containers.RepeatedScalarFieldContainer[bytes]
    nonce_group: int
    nonce: int
    def __init__(self, table_schema: _Optional[_Union[_base_pb2.TableSchema, _Mapping]] = ..., split_keys: _Optional[_Iterable[bytes]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class CreateTableResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class ModifyTableRequest(_message.Message):
    __slots__ = ("table_name", "table_schema", "nonce_group", "nonce")
    TABLE_NAME_FIELD_NUMBER: _ClassVar[int]
    TABLE_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    table_name: _base_pb2.TableName
    table_schema: _base_pb2.TableSchema
    nonce_group: int
    nonce: int
    def __init__(self, table_name: _Optional[_Union[_base_pb2.TableName, _Mapping]] = ..., table_schema: _Optional[_Union[_base_pb2.TableSchema, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class ModifyTableResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class DeleteTableRequest(_message.Message):
    __slots__ = ("table_name", "nonce_group", "nonce")
    TABLE_NAME_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    table_name: _base_pb2.TableName
    nonce_group: int
    nonce: int
    def __init__(self, table_name: _Optional[_Union[_base_pb2.TableName, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class DeleteTableResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class TruncateTableRequest(_message.Message):
    __slots__ = ("tableName", "preserveSplits", "nonce_group", "nonce")
    TABLENAME_FIELD_NUMBER: _ClassVar[int]
    PRESERVESPLITS_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    tableName: _base_pb2.TableName
    preserveSplits: bool
    nonce_group: int
    nonce: int
    def __init__(self, tableName: _Optional[_Union[_base_pb2.TableName, _Mapping]] = ..., preserveSplits: _Optional[bool] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class TruncateTableResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class EnableTableRequest(_message.Message):
    __slots__ = ("table_name", "nonce_group", "nonce")
    TABLE_NAME_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    table_name: _base_pb2.TableName
    nonce_group: int
    nonce: int
    def __init__(self, table_name: _Optional[_Union[_base_pb2.TableName, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class EnableTableResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class DisableTableRequest(_message.Message):
    __slots__ = ("table_name", "nonce_group", "nonce")
    TABLE_NAME_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    table_name: _base_pb2.TableName
    nonce_group: int
    nonce: int
    def __init__(self, table_name: _Optional[_Union[_base_pb2.TableName, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class DisableTableResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class GetTableDescriptorsRequest(_message.Message):
    __slots__ = ("table_names", "namespace")
    TABLE_NAMES_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    table_names: _containers.RepeatedCompositeFieldContainer[_base_pb2.TableName]
    namespace: str
    def __init__(self, table_names: _Optional[_Iterable[_Union[_base_pb2.TableName, _Mapping]]] = ..., namespace: _Optional[str] = ...) -> None: ...

class GetTableDescriptorsResponse(_message.Message):
    __slots__ = ("table_schema",)
    TABLE_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    table_schema: _containers.RepeatedCompositeFieldContainer[_base_pb2.TableSchema]
    def __init__(self, table_schema: _Optional[_Iterable[_Union[_base_pb2.TableSchema, _Mapping]]] = ...) -> None: ...

class CreateNamespaceRequest(_message.Message):
    __slots__ = ("namespaceDescriptor", "nonce_group", "nonce")
    NAMESPACEDESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    namespaceDescriptor: _base_pb2.NamespaceDescriptor
    nonce_group: int
    nonce: int
    def __init__(self, namespaceDescriptor: _Optional[_Union[_base_pb2.NamespaceDescriptor, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class CreateNamespaceResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class ModifyNamespaceRequest(_message.Message):
    __slots__ = ("namespaceDescriptor", "nonce_group", "nonce")
    NAMESPACEDESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    namespaceDescriptor: _base_pb2.NamespaceDescriptor
    nonce_group: int
    nonce: int
    def __init__(self, namespaceDescriptor: _Optional[_Union[_base_pb2.NamespaceDescriptor, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class ModifyNamespaceResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class GetNamespaceDescriptorRequest(_message.Message):
    __slots__ = ("namespaceName",)
    NAMESPACENAME_FIELD_NUMBER: _ClassVar[int]
    namespaceName: str
    def __init__(self, namespaceName: _Optional[str] = ...) -> None: ...

class GetNamespaceDescriptorResponse(_message.Message):
    __slots__ = ("namespaceDescriptor",)
    NAMESPACEDESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    namespaceDescriptor: _base_pb2.NamespaceDescriptor
    def __init__(self, namespaceDescriptor: _Optional[_Union[_base_pb2.NamespaceDescriptor, _Mapping]] = ...) -> None: ...

class ListNamespacesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListNamespacesResponse(_message.Message):
    __slots__ = ("namespaceName",)
    NAMESPACENAME_FIELD_NUMBER: _ClassVar[int]
    namespaceName: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, namespaceName: _Optional[_Iterable[str]] = ...) -> None: ...

class SplitTableRegionRequest(_message.Message):
    __slots__ = ("region_info", "split_row", "nonce_group", "nonce")
    REGION_INFO_FIELD_NUMBER: _ClassVar[int]
    SPLIT_ROW_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    region_info: _base_pb2.RegionInfo
    split_row: bytes
    nonce_group: int
    nonce: int
    def __init__(self, region_info: _Optional[_Union[_base_pb2.RegionInfo, _Mapping]] = ..., split_row: _Optional[bytes] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class SplitTableRegionResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class MergeTableRegionsRequest(_message.Message):
    __slots__ = ("region", "forcible", "nonce_group", "nonce")
    REGION_FIELD_NUMBER: _ClassVar[int]
    FORCIBLE_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    region: _containers.RepeatedCompositeFieldContainer[_base_pb2.RegionSpecifier]
    forcible: bool
    nonce_group: int
    nonce: int
    def __init__(self, region: _Optional[_Iterable[_Union[_base_pb2.RegionSpecifier, _Mapping]]] = ..., forcible: _Optional[bool] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class MergeTableRegionsResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class MoveRegionRequest(_message.Message):
    __slots__ = ("region", "dest_server_name")
    REGION_FIELD_NUMBER: _ClassVar[int]
    DEST_SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    dest_server_name: _base_pb2.ServerName
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., dest_server_name: _Optional[_Union[_base_pb2.ServerName, _Mapping]] = ...) -> None: ...

class MoveRegionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DeleteNamespaceRequest(_message.Message):
    __slots__ = ("namespaceName", "nonce_group", "nonce")
    NAMESPACENAME_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    namespaceName: str
    nonce_group: int
    nonce: int
    def __init__(self, namespaceName: _Optional[str] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class DeleteNamespaceResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...

class GetClusterStatusRequest(_message.Message):
    __slots__ = ("options",)
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    options: _containers.RepeatedScalarFieldContainer[_status_pb2.Option]
    def __init__(self, options: _Optional[_Iterable[_Union[_status_pb2.Option, str]]] = ...) -> None: ...

class GetClusterStatusResponse(_message.Message):
    __slots__ = ("cluster_status",)
    CLUSTER_STATUS_FIELD_NUMBER: _ClassVar[int]
    cluster_status: _status_pb2.ClusterStatus
    def __init__(self, cluster_status: _Optional[_Union[_status_pb2.ClusterStatus, _Mapping]] = ...) -> None: ...

class BalanceRequest(_message.Message):
    __slots__ = ("ignore_rit", "dry_run")
    IGNORE_RIT_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ignore_rit: bool
    dry_run: bool
    def __init__(self, ignore_rit: _Optional[bool] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class BalanceResponse(_message.Message):
    __slots__ = ("balancer_ran", "moves_calculated", "moves_executed")
    BALANCER_RAN_FIELD_NUMBER: _ClassVar[int]
    MOVES_CALCULATED_FIELD_NUMBER: _ClassVar[int]
    MOVES_EXECUTED_FIELD_NUMBER: _ClassVar[int]
    balancer_ran: bool
    moves_calculated: int
    moves_executed: int
    def __init__(self, balancer_ran: _Optional[bool] = ..., moves_calculated: _Optional[int] = ..., moves_executed: _Optional[int] = ...) -> None: ...

class SetBalancerRunningRequest(_message.Message):
    __slots__ = ("on", "synchronous")
    ON_FIELD_NUMBER: _ClassVar[int]
    SYNCHRONOUS_FIELD_NUMBER: _ClassVar[int]
    on: bool
    synchronous: bool
    def __init__(self, on: _Optional[bool] = ..., synchronous: _Optional[bool] = ...) -> None: ...

class SetBalancerRunningResponse(_message.Message):
    __slots__ = ("prev_balance_value",)
    PREV_BALANCE_VALUE_FIELD_NUMBER: _ClassVar[int]
    prev_balance_value: bool
    def __init__(self, prev_balance_value: _Optional[bool] = ...) -> None: ...

class SnapshotDescription(_message.Message):
    __slots__ = ("name", "table", "creation_time", "type", "version", "owner", "ttl", "max_file_size")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DISABLED: _ClassVar[SnapshotDescription.Type]
        FLUSH: _ClassVar[SnapshotDescription.Type]
        SKIPFLUSH: _ClassVar[SnapshotDescription.Type]
    DISABLED: SnapshotDescription.Type
    FLUSH: SnapshotDescription.Type
    SKIPFLUSH: SnapshotDescription.Type
    NAME_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    CREATION_TIME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    MAX_FILE_SIZE_FIELD_NUMBER: _ClassVar[int]
    name: str
    table: str
    creation_time: int
    type: SnapshotDescription.Type
    version: int
    owner: str
    ttl: int
    max_file_size: int
    def __init__(self, name: _Optional[str] = ..., table: _Optional[str] = ..., creation_time: _Optional[int] = ..., type: _Optional[_Union[SnapshotDescription.Type, str]] = ..., version: _Optional[int] = ..., owner: _Optional[str] = ..., ttl: _Optional[int] = ..., max_file_size: _Optional[int] = ...) -> None: ...

class SnapshotRequest(_message.Message):
    __slots__ = ("snapshot", "nonce_group", "nonce")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    snapshot: SnapshotDescription
    nonce_group: int
    nonce: int
    def __init__(self, snapshot: _Optional[_Union[SnapshotDescription, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class SnapshotResponse(_message.Message):
    __slots__ = ("expected_timeout", "proc_id")
    EXPECTED_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    expected_timeout: int
    proc_id: int
    def __init__(self, expected_timeout: _Optional[int] = ..., proc_id: _Optional[int] = ...) -> None: ...

class IsSnapshotDoneRequest(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: SnapshotDescription
    def __init__(self, snapshot: _Optional[_Union[SnapshotDescription, _Mapping]] = ...) -> None: ...

class IsSnapshotDoneResponse(_message.Message):
    __slots__ = ("done",)
    DONE_FIELD_NUMBER: _ClassVar[int]
    done: bool
    def __init__(self, done: _Optional[bool] = ...) -> None: ...

class GetCompletedSnapshotsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetCompletedSnapshotsResponse(_message.Message):
    __slots__ = ("snapshots",)
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    snapshots: _containers.RepeatedCompositeFieldContainer[SnapshotDescription]
    def __init__(self, snapshots: _Optional[_Iterable[_Union[SnapshotDescription, _Mapping]]] = ...) -> None: ...

class DeleteSnapshotRequest(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: SnapshotDescription
    def __init__(self, snapshot: _Optional[_Union[SnapshotDescription, _Mapping]] = ...) -> None: ...

class DeleteSnapshotResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RestoreSnapshotRequest(_message.Message):
    __slots__ = ("snapshot", "nonce_group", "nonce", "restoreACL", "customSFT")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    RESTOREACL_FIELD_NUMBER: _ClassVar[int]
    CUSTOMSFT_FIELD_NUMBER: _ClassVar[int]
    snapshot: SnapshotDescription
    nonce_group: int
    nonce: int
    restoreACL: bool
    customSFT: str
    def __init__(self, snapshot: _Optional[_Union[SnapshotDescription, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ..., restoreACL: _Optional[bool] = ..., customSFT: _Optional[str] = ...) -> None: ...

class RestoreSnapshotResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...
