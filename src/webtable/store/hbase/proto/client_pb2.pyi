from webtable.store.hbase.proto import base_pb2 as _base_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CellType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MINIMUM: _ClassVar[CellType]
    PUT: _ClassVar[CellType]
    DELETE: _ClassVar[CellType]
    DELETE_FAMILY_VERSION: _ClassVar[CellType]
    DELETE_COLUMN: _ClassVar[CellType]
    DELETE_FAMILY: _ClassVar[CellType]
    MAXIMUM: _ClassVar[CellType]
MINIMUM: CellType
PUT: CellType
DELETE: CellType
DELETE_FAMILY_VERSION: CellType
DELETE_COLUMN: CellType
DELETE_FAMILY: CellType
MAXIMUM: CellType

class Cell(_message.Message):
    __slots__ = ("row", "family", "qualifier", "timestamp", "cell_type", "value")
    ROW_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    QUALIFIER_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    CELL_TYPE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    row: bytes
    family: bytes
    qualifier: bytes
    timestamp: int
    cell_type: CellType
    value: bytes
    def __init__(self, row: _Optional[bytes] = ..., family: _Optional[bytes] = ..., qualifier: _Optional[bytes] = ..., timestamp: _Optional[int] = ..., cell_type: _Optional[_Union[CellType, str]] = ..., value: _Optional[bytes] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ("name", "serialized_filter")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERIALIZED_FILTER_FIELD_NUMBER: _ClassVar[int]
    name: str
    serialized_filter: bytes
    def __init__(self, name: _Optional[str] = ..., serialized_filter: _Optional[bytes] = ...) -> None: ...

class Comparator(_message.Message):
    __slots__ = ("name", "serialized_comparator")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERIALIZED_COMPARATOR_FIELD_NUMBER: _ClassVar[int]
    name: str
    serialized_comparator: bytes
    def __init__(self, name: _Optional[str] = ..., serialized_comparator: _Optional[bytes] = ...) -> None: ...

class ByteArrayComparable(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: bytes
    def __init__(self, value: _Optional[bytes] = ...) -> None: ...

class BinaryComparator(_message.Message):
    __slots__ = ("comparable",)
    COMPARABLE_FIELD_NUMBER: _ClassVar[int]
    comparable: ByteArrayComparable
    def __init__(self, comparable: _Optional[_Union[ByteArrayComparable, _Mapping]] = ...) -> None: ...

class Column(_message.Message):
    __slots__ = ("family", "qualifier")
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    QUALIFIER_FIELD_NUMBER: _ClassVar[int]
    family: bytes
    qualifier: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, family: _Optional[bytes] = ..., qualifier: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Get(_message.Message):
    __slots__ = ("row", "column", "filter", "time_range", "max_versions")
    ROW_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGE_FIELD_NUMBER: _ClassVar[int]
    MAX_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    row: bytes
    column: _containers.RepeatedCompositeFieldContainer[Column]
    filter: Filter
    time_range: _base_pb2.TimeRange
    max_versions: int
    def __init__(self, row: _Optional[bytes] = ..., column: _Optional[_Iterable[_Union[Column, _Mapping]]] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., time_range: _Optional[_Union[_base_pb2.TimeRange, _Mapping]] = ..., max_versions: _Optional[int] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("cell", "associated_cell_count", "partial")
    CELL_FIELD_NUMBER: _ClassVar[int]
    ASSOCIATED_CELL_COUNT_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    cell: _containers.RepeatedCompositeFieldContainer[Cell]
    associated_cell_count: int
    partial: bool
    def __init__(self, cell: _Optional[_Iterable[_Union[Cell, _Mapping]]] = ..., associated_cell_count: _Optional[int] = ..., partial: _Optional[bool] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("region", "get")
    REGION_FIELD_NUMBER: _ClassVar[int]
    GET_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    get: Get
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., get: _Optional[_Union[Get, _Mapping]] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: Result
    def __init__(self, result: _Optional[_Union[Result, _Mapping]] = ...) -> None: ...

class Condition(_message.Message):
    __slots__ = ("row", "family", "qualifier", "compare_type", "comparator", "time_range", "filter")
    ROW_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    QUALIFIER_FIELD_NUMBER: _ClassVar[int]
    COMPARE_TYPE_FIELD_NUMBER: _ClassVar[int]
    COMPARATOR_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGE_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    row: bytes
    family: bytes
    qualifier: bytes
    compare_type: _base_pb2.CompareType
    comparator: Comparator
    time_range: _base_pb2.TimeRange
    filter: Filter
    def __init__(self, row: _Optional[bytes] = ..., family: _Optional[bytes] = ..., qualifier: _Optional[bytes] = ..., compare_type: _Optional[_Union[_base_pb2.CompareType, str]] = ..., comparator: _Optional[_Union[Comparator, _Mapping]] = ..., time_range: _Optional[_Union[_base_pb2.TimeRange, _Mapping]] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ...) -> None: ...

class MutationProto(_message.Message):
    __slots__ = ("row", "mutate_type", "timestamp", "attribute", "durability", "associated_cell_count", "nonce")
    class Durability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        USE_DEFAULT: _ClassVar[MutationProto.Durability]
        SKIP_WAL: _ClassVar[MutationProto.Durability]
        ASYNC_WAL: _ClassVar[MutationProto.Durability]
        SYNC_WAL: _ClassVar[MutationProto.Durability]
        FSYNC_WAL: _ClassVar[MutationProto.Durability]
    USE_DEFAULT: MutationProto.Durability
    SKIP_WAL: MutationProto.Durability
    ASYNC_WAL: MutationProto.Durability
    SYNC_WAL: MutationProto.Durability
    FSYNC_WAL: MutationProto.Durability
    class MutationType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        APPEND: _ClassVar[MutationProto.MutationType]
        INCREMENT: _ClassVar[MutationProto.MutationType]
        PUT: _ClassVar[MutationProto.MutationType]
        DELETE: _ClassVar[MutationProto.MutationType]
    APPEND: MutationProto.MutationType
    INCREMENT: MutationProto.MutationType
    PUT: MutationProto.MutationType
    DELETE: MutationProto.MutationType
    ROW_FIELD_NUMBER: _ClassVar[int]
    MUTATE_TYPE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    DURABILITY_FIELD_NUMBER: _ClassVar[int]
    ASSOCIATED_CELL_COUNT_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    row: bytes
    mutate_type: MutationProto.MutationType
    timestamp: int
    attribute: _containers.RepeatedCompositeFieldContainer[_base_pb2.NameBytesPair]
    durability: MutationProto.Durability
    associated_cell_count: int
    nonce: int
    def __init__(self, row: _Optional[bytes] = ..., mutate_type: _Optional[_Union[MutationProto.MutationType, str]] = ..., timestamp: _Optional[int] = ..., attribute: _Optional[_Iterable[_Union[_base_pb2.NameBytesPair, _Mapping]]] = ..., durability: _Optional[_Union[MutationProto.Durability, str]] = ..., associated_cell_count: _Optional[int] = ..., nonce: _Optional[int] = ...) -> None: ...

class MutateRequest(_message.Message):
    __slots__ = ("region", "mutation", "condition", "nonce_group")
    REGION_FIELD_NUMBER: _ClassVar[int]
    MUTATION_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    NONCE_GROUP_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    mutation: MutationProto
    condition: Condition
    nonce_group: int
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., mutation: _Optional[_Union[MutationProto, _Mapping]] = ..., condition: _Optional[_Union[Condition, _Mapping]] = ..., nonce_group: _Optional[int] = ...) -> None: ...

class MutateResponse(_message.Message):
    __slots__ = ("result", "processed")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    PROCESSED_FIELD_NUMBER: _ClassVar[int]
    result: Result
    processed: bool
    def __init__(self, result: _Optional[_Union[Result, _Mapping]] = ..., processed: _Optional[bool] = ...) -> None: ...

class Scan(_message.Message):
    __slots__ = ("column", "attribute", "start_row", "stop_row", "filter", "time_range", "max_versions", "cache_blocks", "max_result_size", "load_column_families_on_demand", "reversed", "mvcc_read_point", "include_start_row", "include_stop_row", "readType")
    class ReadType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[Scan.ReadType]
        STREAM: _ClassVar[Scan.ReadType]
        PREAD: _ClassVar[Scan.ReadType]
    DEFAULT: Scan.ReadType
    STREAM: Scan.ReadType
    PREAD: Scan.ReadType
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    START_ROW_FIELD_NUMBER: _ClassVar[int]
    STOP_ROW_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGE_FIELD_NUMBER: _ClassVar[int]
    MAX_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    CACHE_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    MAX_RESULT_SIZE_FIELD_NUMBER: _ClassVar[int]
    LOAD_COLUMN_FAMILIES_ON_DEMAND_FIELD_NUMBER: _ClassVar[int]
    REVERSED_FIELD_NUMBER: _ClassVar[int]
    MVCC_READ_POINT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_START_ROW_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_STOP_ROW_FIELD_NUMBER: _ClassVar[int]
    READTYPE_FIELD_NUMBER: _ClassVar[int]
    column: _containers.RepeatedCompositeFieldContainer[Column]
    attribute: _containers.RepeatedCompositeFieldContainer[_base_pb2.NameBytesPair]
    start_row: bytes
    stop_row: bytes
    filter: Filter
    time_range: _base_pb2.TimeRange
    max_versions: int
    cache_blocks: bool
    max_result_size: int
    load_column_families_on_demand: bool
    reversed: bool
    mvcc_read_point: int
    include_start_row: bool
    include_stop_row: bool
    readType: Scan.ReadType
    def __init__(self, column: _Optional[_Iterable[_Union[Column, _Mapping]]] = ..., attribute: _Optional[_Iterable[_Union[_base_pb2.NameBytesPair, _Mapping]]] = ..., start_row: _Optional[bytes] = ..., stop_row: _Optional[bytes] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., time_range: _Optional[_Union[_base_pb2.TimeRange, _Mapping]] = ..., max_versions: _Optional[int] = ..., cache_blocks: _Optional[bool] = ..., max_result_size: _Optional[int] = ..., load_column_families_on_demand: _Optional[bool] = ..., reversed: _Optional[bool] = ..., mvcc_read_point: _Optional[int] = ..., include_start_row: _Optional[bool] = ..., include_stop_row: _Optional[bool] = ..., readType: _Optional[_Union[Scan.ReadType, str]] = ...) -> None: ...

class ScanRequest(_message.Message):
    __slots__ = ("region", "scan", "scanner_id", "number_of_rows", "close_scanner", "next_call_seq", "client_handles_partials", "client_handles_heartbeats", "limit_of_rows")
    REGION_FIELD_NUMBER: _ClassVar[int]
    SCAN_FIELD_NUMBER: _ClassVar[int]
    SCANNER_ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_OF_ROWS_FIELD_NUMBER: _ClassVar[int]
    CLOSE_SCANNER_FIELD_NUMBER: _ClassVar[int]
    NEXT_CALL_SEQ_FIELD_NUMBER: _ClassVar[int]
    CLIENT_HANDLES_PARTIALS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_HANDLES_HEARTBEATS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_OF_ROWS_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    scan: Scan
    scanner_id: int
    number_of_rows: int
    close_scanner: bool
    next_call_seq: int
    client_handles_partials: bool
    client_handles_heartbeats: bool
    limit_of_rows: int
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., scan: _Optional[_Union[Scan, _Mapping]] = ..., scanner_id: _Optional[int] = ..., number_of_rows: _Optional[int] = ..., close_scanner: _Optional[bool] = ..., next_call_seq: _Optional[int] = ..., client_handles_partials: _Optional[bool] = ..., client_handles_heartbeats: _Optional[bool] = ..., limit_of_rows: _Optional[int] = ...) -> None: ...

class ScanResponse(_message.Message):
    __slots__ = ("cells_per_result", "scanner_id", "more_results", "results", "partial_flag_per_result", "more_results_in_region", "heartbeat_message", "mvcc_read_point")
    CELLS_PER_RESULT_FIELD_NUMBER: _ClassVar[int]
    SCANNER_ID_FIELD_NUMBER: _ClassVar[int]
    MORE_RESULTS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FLAG_PER_RESULT_FIELD_NUMBER: _ClassVar[int]
    MORE_RESULTS_IN_REGION_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MVCC_READ_POINT_FIELD_NUMBER: _ClassVar[int]
    cells_per_result: _containers.RepeatedScalarFieldContainer[int]
    scanner_id: int
    more_results: bool
    results: _containers.RepeatedCompositeFieldContainer[Result]
    partial_flag_per_result: _containers.RepeatedScalarFieldContainer[bool]
    more_results_in_region: bool
    heartbeat_message: bool
    mvcc_read_point: int
    def __init__(self, cells_per_result: _Optional[_Iterable[int]] = ..., scanner_id: _Optional[int] = ..., more_results: _Optional[bool] = ..., results: _Optional[_Iterable[_Union[Result, _Mapping]]] = ..., partial_flag_per_result: _Optional[_Iterable[bool]] = ..., more_results_in_region: _Optional[bool] = ..., heartbeat_message: _Optional[bool] = ..., mvcc_read_point: _Optional[int] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("index", "mutation", "get")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    MUTATION_FIELD_NUMBER: _ClassVar[int]
    GET_FIELD_NUMBER: _ClassVar[int]
    index: int
    mutation: MutationProto
    get: Get
    def __init__(self, index: _Optional[int] = ..., mutation: _Optional[_Union[MutationProto, _Mapping]] = ..., get: _Optional[_Union[Get, _Mapping]] = ...) -> None: ...

class RegionAction(_message.Message):
    __slots__ = ("region", "atomic", "action", "condition")
    REGION_FIELD_NUMBER: _ClassVar[int]
    ATOMIC_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    region: _base_pb2.RegionSpecifier
    atomic: bool
    action: _containers.RepeatedCompositeFieldContainer[Action]
    condition: Condition
    def __init__(self, region: _Optional[_Union[_base_pb2.RegionSpecifier, _Mapping]] = ..., atomic: _Optional[bool] = ..., action: _Optional[_Iterable[_Union[Action, _Mapping]]] = ..., condition: _Optional[_Union[Condition, _Mapping]] = ...) -> None: ...

class MultiRequest(_message.Message):
    __slots__ = ("regionAction", "nonceGroup")
    REGIONACTION_FIELD_NUMBER: _ClassVar[int]
    NONCEGROUP_FIELD_NUMBER: _ClassVar[int]
    regionAction: _containers.RepeatedCompositeFieldContainer[RegionAction]
    nonceGroup: int
    def __init__(self, regionAction: _Optional[_Iterable[_Union[RegionAction, _Mapping]]] = ..., nonceGroup: _Optional[int] = ...) -> None: ...

class ResultOrException(_message.Message):
    __slots__ = ("index", "result", "exception")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    EXCEPTION_FIELD_NUMBER: _ClassVar[int]
    index: int
    result: Result
    exception: _base_pb2.NameBytesPair
    def __init__(self, index: _Optional[int] = ..., result: _Optional[_Union[Result, _Mapping]] = ..., exception: _Optional[_Union[_base_pb2.NameBytesPair, _Mapping]] = ...) -> None: ...

class RegionActionResult(_message.Message):
    __slots__ = ("resultOrException", "exception", "processed")
    RESULTOREXCEPTION_FIELD_NUMBER: _ClassVar[int]
    EXCEPTION_FIELD_NUMBER: _ClassVar[int]
    PROCESSED_FIELD_NUMBER: _ClassVar[int]
    resultOrException: _containers.RepeatedCompositeFieldContainer[ResultOrException]
    exception: _base_pb2.NameBytesPair
    processed: bool
    def __init__(self, resultOrException: _Optional[_Iterable[_Union[ResultOrException, _Mapping]]] = ..., exception: _Optional[_Union[_base_pb2.NameBytesPair, _Mapping]] = ..., processed: _Optional[bool] = ...) -> None: ...

class MultiResponse(_message.Message):
    __slots__ = ("regionActionResult",)
    REGIONACTIONRESULT_FIELD_NUMBER: _ClassVar[int]
    regionActionResult: _containers.RepeatedCompositeFieldContainer[RegionActionResult]
    def __init__(self, regionActionResult: _Optional[_Iterable[_Union[RegionActionResult, _Mapping]]] = ...) -> None: ...
