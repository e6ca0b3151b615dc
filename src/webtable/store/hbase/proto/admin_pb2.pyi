from webtable.store.hbase.proto import base_pb2 as _base_pb2
from webtable.store.hbase.proto import status_pb2 as _status_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetRegionInfoRequest(_message.Message):
    __slots__ = ("region", "compaction_state")
    REGION_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_STATE_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    compaction_state: bool
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., compaction_state: _Optional[bool] = ...) -> None: ...

class GetRegionInfoResponse(_message.Message):
    __slots__ = ("region_info", "compaction_state", "mergeable")
    class CompactionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[GetRegionInfoResponse.CompactionState]
        MINOR: _ClassVar[GetRegionInfoResponse.CompactionState]
        MAJOR: _ClassVar[GetRegionInfoResponse.CompactionState]
        MAJOR_AND_MINOR: _ClassVar[GetRegionInfoResponse.CompactionState]
    NONE: GetRegionInfoResponse.CompactionState
    MINOR: GetRegionInfoResponse.CompactionState
    MAJOR: GetRegionInfoResponse.CompactionState
    MAJOR_AND_MINOR: GetRegionInfoResponse.CompactionState
    REGION_INFO_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_STATE_FIELD_NUMBER: _ClassVar[int]
    MERGEABLE_FIELD_NUMBER: _ClassVar[int]
    region_info: _base_pb2.RegionInfo
    compaction_state: GetRegionInfoResponse.CompactionState
    mergeable: bool
    def __init__(self, region_info: _Optional[_Union[_base_pb2.RegionInfo, _Mapping]] = ..., compaction_state: _Optional[_Union[GetRegionInfoResponse.CompactionState, str]] = ..., mergeable: _Optional[bool] = ...) -> None: ...

class GetStoreFileRequest(_message.Message):
    __slots__ = ("region", "family")
    REGION_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    family: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., family: _Optional[_Iterable[bytes]] = ...) -> None: ...

class GetStoreFileResponse(_message.Message):
    __slots__ = ("store_file",)
    STORE_FILE_FIELD_NUMBER: _ClassVar[int]
    store_file: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, store_file: _Optional[_Iterable[str]] = ...) -> None: ...

class FlushRegionRequest(_message.Message):
    __slots__ = ("region", "if_older_than_ts", "family")
    REGION_FIELD_NUMBER: _ClassVar[int]
    IF_OLDER_THAN_TS_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    if_older_than_ts: int
    family: bytes
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., if_older_than_ts: _Optional[int] = ..., family: _Optional[bytes] = ...) -> None: ...

class FlushRegionResponse(_message.Message):
    __slots__ = ("last_flush_time", "flushed")
    LAST_FLUSH_TIME_FIELD_NUMBER: _ClassVar[int]
    FLUSHED_FIELD_NUMBER: _ClassVar[int]
    last_flush_time: int
    flushed: bool
    def __init__(self, last_flush_time: _Optional[int] = ..., flushed: _Optional[bool] = ...) -> None: ...

class CompactRegionRequest(_message.Message):
    __slots__ = ("region", "major", "family")
    REGION_FIELD_NUMBER: _ClassVar[int]
    MAJOR_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    major: bool
    family: bytes
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., major: _Optional[bool] = ..., family: _Optional[bytes] = ...) -> None: ...

class CompactRegionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetRegionLoadRequest(_message.Message):
    __slots__ = ("table_name",)
    TABLE_NAME_FIELD_NUMBER: _ClassVar[int]
    table_name: _base_pb2.TableName
    def __init__(self, table_name: _Optional[_Union[_base_pb2.TableName, _Mapping]] = ...) -> None: ...

class GetRegionLoadResponse(_message.Message):
    __slots__ = ("region_loads",)
    REGION_LOADS_FIELD_NUMBER: _ClassVar[int]
    region_loads: _containers.RepeatedCompositeFieldContainer[_status_pb2.RegionLoad]
    def __init__(self, region_loads: _Optional[_Iterable[_Union[_status_pb2.RegionLoad, _Mapping]]] = ...) -> None: ...

class CompactionSwitchRequest(_message.Message):
    __slots__ = ("enabled",)
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    def __init__(self, enabled: _Optional[bool] = ...) -> None: ...

class CompactionSwitchResponse(_message.Message):
    __slots__ = ("prev_state",)
    PREV_STATE_FIELD_NUMBER: _ClassVar[int]
    prev_state: bool
    def __init__(self, prev_state: _Optional[bool] = ...) -> None: ...

class RollWALWriterRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RollWALWriterResponse(_message.Message):
    __slots__ = ("region_to_flush",)
    REGION_TO_FLUSH_FIELD_NUMBER: _ClassVar[int]
    region_to_flush: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, region_to_flush: _Optional[_Iterable[bytes]] = ...) -> None: ...

class StopServerRequest(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class StopServerResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ClearCompactionQueuesRequest(_message.Message):
    __slots__ = ("queue_name",)
    QUEUE_NAME_FIELD_NUMBER: _ClassVar[int]
    queue_name: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, queue_name: _Optional[_Iterable[str]] = ...) -> None: ...

class ClearCompactionQueuesResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RegionExceptionMessage(_message.Message):
    __slots__ = ("region", "exception")
    REGION_FIELD_NUMBER: _ClassVar[int]
    EXCEPTION_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    exception: _base_pb2.NameBytesPair
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., exception: _Optional[_Union[_base_pb2.NameBytesPair, _Mapping]] = ...) -> None: ...

class CacheEvictionStats(_message.Message):
    __slots__ = ("evicted_blocks", "bytes_evicted", "max_cache_size", "exception")
    EVICTED_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    BYTES_EVICTED_FIELD_NUMBER: _ClassVar[int]
    MAX_CACHE_SIZE_FIELD_NUMBER: _ClassVar[int]
    EXCEPTION_FIELD_NUMBER: _ClassVar[int]
    evicted_blocks: int
    bytes_evicted: int
    max_cache_size: int
    exception: _containers.RepeatedCompositeFieldContainer[RegionExceptionMessage]
    def __init__(self, evicted_blocks: _Optional[int] = ..., bytes_evicted: _Optional[int] = ..., max_cache_size: _Optional[int] = ..., exception: _Optional[_Iterable[_Union[RegionExceptionMessage, _Mapping]]] = ...) -> None: ...

class ClearRegionBlockCacheRequest(_message.Message):
    __slots__ = ("region",)
    REGION_FIELD_NUMBER: _ClassVar[int]
    region: _containers.RepeatedCompositeFieldContainer[_base_pb2.RegionSpecifier]
    def __init__(self, region: _Optional[_Iterable[_Union[_base_pb2.RegionSpecifier, _Mapping]]] = ...) -> None: ...

class ClearRegionBlockCacheResponse(_message.Message):
    __slots__ = ("stats",)
    STATS_FIELD_NUMBER: _ClassVar[int]
    stats: CacheEvictionStats
    def __init__(self, stats: _Optional[_Union[CacheEvictionStats, _Mapping]] = ...) -> None: ...
