from webtable.store.hbase.proto import base_pb2 as _base_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MasterSwitchType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SPLIT: _ClassVar[MasterSwitchType]
    MERGE: _ClassVar[MasterSwitchType]
SPLIT: MasterSwitchType
MERGE: MasterSwitchType

class SetSplitOrMergeEnabledRequest(_message.Message):
    __slots__ = ("enabled", "synchronous", "switch_types")
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    SYNCHRONOUS_FIELD_NUMBER: _ClassVar[int]
    SWITCH_TYPES_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    synchronous: bool
    switch_types: _containers.RepeatedScalarFieldContainer[MasterSwitchType]
    def __init__(self, enabled: _Optional[bool] = ..., synchronous: _Optional[bool] = ..., switch_types: _Optional[_Iterable[_Union[MasterSwitchType, str]]] = ...) -> None: ...

class SetSplitOrMergeEnabledResponse(_message.Message):
    __slots__ = ("prev_value",)
    PREV_VALUE_FIELD_NUMBER: _ClassVar[int]
    prev_value: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, prev_value: _Optional[_Iterable[bool]] = ...) -> None: ...

class IsSplitOrMergeEnabledRequest(_message.Message):
    __slots__ = ("switch_type",)
    SWITCH_TYPE_FIELD_NUMBER: _ClassVar[int]
    switch_type: MasterSwitchType
    def __init__(self, switch_type: _Optional[_Union[MasterSwitchType, str]] = ...) -> None: ...

class IsSplitOrMergeEnabledResponse(_message.Message):
    __slots__ = ("enabled",)
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    def __init__(self, enabled: _Optional[bool] = ...) -> None: ...

class IsBalancerEnabledRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IsBalancerEnabledResponse(_message.Message):
    __slots__ = ("enabled",)
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    def __init__(self, enabled: _Optional[bool] = ...) -> None: ...

class NormalizeRequest(_message.Message):
    __slots__ = ("table_names", "regex", "namespace")
    TABLE_NAMES_FIELD_NUMBER: _ClassVar[int]
    REGEX_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    table_names: _containers.RepeatedCompositeFieldContainer[_base_pb2.TableName]
    regex: str
    namespace: str
    def __init__(self, table_names: _Optional[_Iterable[_Union[_base_pb2.TableName, _Mapping]]] = ..., regex: _Optional[str] = ..., namespace: _Optional[str] = ...) -> None: ...

class NormalizeResponse(_message.Message):
    __slots__ = ("normalizer_ran",)
    NORMALIZER_RAN_FIELD_NUMBER: _ClassVar[int]
    normalizer_ran: bool
    def __init__(self, normalizer_ran: _Optional[bool] = ...) -> None: ...

class SetNormalizerRunningRequest(_message.Message):
    __slots__ = ("on",)
    ON_FIELD_NUMBER: _ClassVar[int]
    on: bool
    def __init__(self, on: _Optional[bool] = ...) -> None: ...

class SetNormalizerRunningResponse(_message.Message):
    __slots__ = ("prev_normalizer_value",)
    PREV_NORMALIZER_VALUE_FIELD_NUMBER: _ClassVar[int]
    prev_normalizer_value: bool
    def __init__(self, prev_normalizer_value: _Optional[bool] = ...) -> None: ...

class IsNormalizerEnabledRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IsNormalizerEnabledResponse(_message.Message):
    __slots__ = ("enabled",)
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    def __init__(self, enabled: _Optional[bool] = ...) -> None: ...

class RunCatalogScanRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunCatalogScanResponse(_message.Message):
    __slots__ = ("scan_result",)
    SCAN_RESULT_FIELD_NUMBER: _ClassVar[int]
    scan_result: int
    def __init__(self, scan_result: _Optional[int] = ...) -> None: ...

class EnableCatalogJanitorRequest(_message.Message):
    __slots__ = ("enable",)
    ENABLE_FIELD_NUMBER: _ClassVar[int]
    enable: bool
    def __init__(self, enable: _Optional[bool] = ...) -> None: ...

class EnableCatalogJanitorResponse(_message.Message):
    __slots__ = ("prev_value",)
    PREV_VALUE_FIELD_NUMBER: _ClassVar[int]
    prev_value: bool
    def __init__(self, prev_value: _Optional[bool] = ...) -> None: ...

class IsCatalogJanitorEnabledRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IsCatalogJanitorEnabledResponse(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: bool
    def __init__(self, value: _Optional[bool] = ...) -> None: ...

class RunCleanerChoreRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunCleanerChoreResponse(_message.Message):
    __slots__ = ("cleaner_chore_ran",)
    CLEANER_CHORE_RAN_FIELD_NUMBER: _ClassVar[int]
    cleaner_chore_ran: bool
    def __init__(self, cleaner_chore_ran: _Optional[bool] = ...) -> None: ...

class SetCleanerChoreRunningRequest(_message.Message):
    __slots__ = ("on",)
    ON_FIELD_NUMBER: _ClassVar[int]
    on: bool
    def __init__(self, on: _Optional[bool] = ...) -> None: ...

class SetCleanerChoreRunningResponse(_message.Message):
    __slots__ = ("prev_value",)
    PREV_VALUE_FIELD_NUMBER: _ClassVar[int]
    prev_value: bool
    def __init__(self, prev_value: _Optional[bool] = ...) -> None: ...

class IsCleanerChoreEnabledRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IsCleanerChoreEnabledResponse(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: bool
    def __init__(self, value: _Optional[bool] = ...) -> None: ...

class SetSnapshotCleanupRequest(_message.Message):
    __slots__ = ("enabled", "synchronous")
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    SYNCHRONOUS_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    synchronous: bool
    def __init__(self, enabled: _Optional[bool] = ..., synchronous: _Optional[bool] = ...) -> None: ...

class SetSnapshotCleanupResponse(_message.Message):
    __slots__ = ("prev_snapshot_cleanup",)
    PREV_SNAPSHOT_CLEANUP_FIELD_NUMBER: _ClassVar[int]
    prev_snapshot_cleanup: bool
    def __init__(self, prev_snapshot_cleanup: _Optional[bool] = ...) -> None: ...

class IsSnapshotCleanupEnabledRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IsSnapshotCleanupEnabledResponse(_message.Message):
    __slots__ = ("enabled",)
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    def __init__(self, enabled: _Optional[bool] = ...) -> None: ...

class IsInMaintenanceModeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IsInMaintenanceModeResponse(_message.Message):
    __slots__ = ("inMaintenanceMode",)
    INMAINTENANCEMODE_FIELD_NUMBER: _ClassVar[int]
    inMaintenanceMode: bool
    def __init__(self, inMaintenanceMode: _Optional[bool] = ...) -> None: ...

class RunHbckChoreRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunHbckChoreResponse(_message.Message):
    __slots__ = ("ran",)
    RAN_FIELD_NUMBER: _ClassVar[int]
    ran: bool
    def __init__(self, ran: _Optional[bool] = ...) -> None: ...

class FlushMasterStoreRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FlushMasterStoreResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StopMasterRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StopMasterResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListDecommissionedRegionServersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListDecommissionedRegionServersResponse(_message.Message):
    __slots__ = ("server_name",)
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    server_name: _containers.RepeatedCompositeFieldContainer[_base_pb2.ServerName]
    def __init__(self, server_name: _Optional[_Iterable[_Union[_base_pb2.ServerName, _Mapping]]] = ...) -> None: ...

class DecommissionRegionServersRequest(_message.Message):
    __slots__ = ("server_name", "offload")
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    OFFLOAD_FIELD_NUMBER: _ClassVar[int]
    server_name: _containers.RepeatedCompositeFieldContainer[_base_pb2.ServerName]
    offload: bool
    def __init__(self, server_name: _Optional[_Iterable[_Union[_base_pb2.ServerName, _Mapping]]] = ..., offload: _Optional[bool] = ...) -> None: ...

class DecommissionRegionServersResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RecommissionRegionServerRequest(_message.Message):
    __slots__ = ("server_name", "region")
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    server_name: _base_pb2.ServerName
    region: _containers.RepeatedCompositeFieldContainer[_base_pb2.RegionSpecifier]
    def __init__(self, server_name: _Optional[_Union[_base_pb2.ServerName, _Mapping]] = ..., region: _Optional[_Iterable[_Union[_base_pb2.RegionSpecifier, _Mapping]]] = ...) -> None: ...

class RecommissionRegionServerResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ClearDeadServersRequest(_message.Message):
    __slots__ = ("server_name",)
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    server_name: _containers.RepeatedCompositeFieldContainer[_base_pb2.ServerName]
    def __init__(self, server_name: _Optional[_Iterable[_Union[_base_pb2.ServerName, _Mapping]]] = ...) -> None: ...

class ClearDeadServersResponse(_message.Message):
    __slots__ = ("server_name",)
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    server_name: _containers.RepeatedCompositeFieldContainer[_base_pb2.ServerName]
    def __init__(self, server_name: _Optional[_Iterable[_Union[_base_pb2.ServerName, _Mapping]]] = ...) -> None: ...

class AssignRegionRequest(_message.Message):
    __slots__ = ("region",)
    REGION_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ...) -> None: ...

class AssignRegionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class UnassignRegionRequest(_message.Message):
    __slots__ = ("region",)
    REGION_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ...) -> None: ...

class UnassignRegionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TruncateRegionRequest(_message.Message):
    __slots__ = ("region_info", "nonce_group", "nonce")
    REGION_INFO_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    region_info: _base_pb2.RegionInfo
    nonce_group: int
    nonce: int
    def __init__(self, region_info: _Optional[_Union[_base_pb2.RegionInfo, _Mapping]] = ..., nonce_group: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class TruncateRegionResponse(_message.Message):
    __slots__ = ("proc_id",)
    PROC_ID_FIELD_NUMBER: _ClassVar[int]
    proc_id: int
    def __init__(self, proc_id: _Optional[int] = ...) -> None: ...
