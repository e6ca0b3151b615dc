from webtable.store.hbase.proto import base_pb2 as _base_pb2
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
