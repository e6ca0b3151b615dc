from webtable.store.hbase.proto import base_pb2 as _base_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SlowLogResponseRequest(_message.Message):
    __slots__ = ("region_name", "table_name", "client_address", "user_name", "limit", "filter_by_operator", "log_type")
    class FilterByOperator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        AND: _ClassVar[SlowLogResponseRequest.FilterByOperator]
        OR: _ClassVar[SlowLogResponseRequest.FilterByOperator]
    AND: SlowLogResponseRequest.FilterByOperator
    OR: SlowLogResponseRequest.FilterByOperator
    class LogType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SLOW_LOG: _ClassVar[SlowLogResponseRequest.LogType]
        LARGE_LOG: _ClassVar[SlowLogResponseRequest.LogType]
    SLOW_LOG: SlowLogResponseRequest.LogType
    LARGE_LOG: SlowLogResponseRequest.LogType
    REGION_NAME_FIELD_NUMBER: _ClassVar[int]
    TABLE_NAME_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    USER_NAME_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    FILTER_BY_OPERATOR_FIELD_NUMBER: _ClassVar[int]
    LOG_TYPE_FIELD_NUMBER: _ClassVar[int]
    region_name: str
    table_name: str
    client_address: str
    user_name: str
    limit: int
    filter_by_operator: SlowLogResponseRequest.FilterByOperator
    log_type: SlowLogResponseRequest.LogType
    def __init__(self, region_name: _Optional[str] = ..., table_name: _Optional[str] = ..., client_address: _Optional[str] = ..., user_name: _Optional[str] = ..., limit: _Optional[int] = ..., filter_by_operator: _Optional[_Union[SlowLogResponseRequest.FilterByOperator, str]] = ..., log_type: _Optional[_Union[SlowLogResponseRequest.LogType, str]] = ...) -> None: ...

class SlowLogPayload(_message.Message):
    __slots__ = ("start_time", "processing_time", "queue_time", "response_size", "client_address", "server_class", "method_name", "call_details", "param", "user_name", "region_name", "multi_gets", "multi_mutations", "multi_service_calls", "type", "block_bytes_scanned", "connection_attribute", "request_attribute", "fs_read_time")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SLOW_LOG: _ClassVar[SlowLogPayload.Type]
        LARGE_LOG: _ClassVar[SlowLogPayload.Type]
        ALL: _ClassVar[SlowLogPayload.Type]
    SLOW_LOG: SlowLogPayload.Type
    LARGE_LOG: SlowLogPayload.Type
    ALL: SlowLogPayload.Type
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_TIME_FIELD_NUMBER: _ClassVar[int]
    QUEUE_TIME_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_SIZE_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    SERVER_CLASS_FIELD_NUMBER: _ClassVar[int]
    METHOD_NAME_FIELD_NUMBER: _ClassVar[int]
    CALL_DETAILS_FIELD_NUMBER: _ClassVar[int]
    PARAM_FIELD_NUMBER: _ClassVar[int]
    USER_NAME_FIELD_NUMBER: _ClassVar[int]
    REGION_NAME_FIELD_NUMBER: _ClassVar[int]
    MULTI_GETS_FIELD_NUMBER: _ClassVar[int]
    MULTI_MUTATIONS_FIELD_NUMBER: _ClassVar[int]
    MULTI_SERVICE_CALLS_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    BLOCK_BYTES_SCANNED_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    FS_READ_TIME_FIELD_NUMBER: _ClassVar[int]
    start_time: int
    processing_time: int
    queue_time: int
    response_size: int
    client_address: str
    server_class: str
    method_name: str
    call_details: str
    param: str
    user_name: str
    region_name: str
    multi_gets: int
    multi_mutations: int
    multi_service_calls: int
    type: SlowLogPayload.Type
    block_bytes_scanned: int
    connection_attribute: _containers.RepeatedCompositeFieldContainer[_base_pb2.NameBytesPair]
    request_attribute: _containers.RepeatedCompositeFieldContainer[_base_pb2.NameBytesPair]
    fs_read_time: int
    def __init__(self, start_time: _Optional[int] = ..., processing_time: _Optional[int] = ..., queue_time: _Optional[int] = ..., response_size: _Optional[int] = ..., client_address: _Optional[str] = ..., server_class: _Optional[str] = ..., method_name: _Optional[str] = ..., call_details: _Optional[str] = ..., param: _Optional[str] = ..., user_name: _Optional[str] = ..., region_name: _Optional[str] = ..., multi_gets: _Optional[int] = ..., multi_mutations: _Optional[int] = ..., multi_service_calls: _Optional[int] = ..., type: _Optional[_Union[SlowLogPayload.Type, str]] = ..., block_bytes_scanned: _Optional[int] = ..., connection_attribute: _Optional[_Iterable[_Union[_base_pb2.NameBytesPair, _Mapping]]] = ..., request_attribute: _Optional[_Iterable[_Union[_base_pb2.NameBytesPair, _Mapping]]] = ..., fs_read_time: _Optional[int] = ...) -> None: ...

class SlowLogResponses(_message.Message):
    __slots__ = ("slow_log_payloads",)
    SLOW_LOG_PAYLOADS_FIELD_NUMBER: _ClassVar[int]
    slow_log_payloads: _containers.RepeatedCompositeFieldContainer[SlowLogPayload]
    def __init__(self, slow_log_payloads: _Optional[_Iterable[_Union[SlowLogPayload, _Mapping]]] = ...) -> None: ...

class ClearSlowLogResponseRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ClearSlowLogResponses(_message.Message):
    __slots__ = ("is_cleaned",)
    IS_CLEANED_FIELD_NUMBER: _ClassVar[int]
    is_cleaned: bool
    def __init__(self, is_cleaned: _Optional[bool] = ...) -> None: ...

class LogRequest(_message.Message):
    __slots__ = ("log_class_name", "log_message")
    LOG_CLASS_NAME_FIELD_NUMBER: _ClassVar[int]
    LOG_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    log_class_name: str
    log_message: bytes
    def __init__(self, log_class_name: _Optional[str] = ..., log_message: _Optional[bytes] = ...) -> None: ...

class LogEntry(_message.Message):
    __slots__ = ("log_class_name", "log_message")
    LOG_CLASS_NAME_FIELD_NUMBER: _ClassVar[int]
    LOG_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    log_class_name: str
    log_message: bytes
    def __init__(self, log_class_name: _Optional[str] = ..., log_message: _Optional[bytes] = ...) -> None: ...

class BalancerDecisionsRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class BalancerDecision(_message.Message):
    __slots__ = ("initial_function_costs", "final_function_costs", "init_total_cost", "computed_total_cost", "computed_steps", "region_plans")
    INITIAL_FUNCTION_COSTS_FIELD_NUMBER: _ClassVar[int]
    FINAL_FUNCTION_COSTS_FIELD_NUMBER: _ClassVar[int]
    INIT_TOTAL_COST_FIELD_NUMBER: _ClassVar[int]
    COMPUTED_TOTAL_COST_FIELD_NUMBER: _ClassVar[int]
    COMPUTED_STEPS_FIELD_NUMBER: _ClassVar[int]
    REGION_PLANS_FIELD_NUMBER: _ClassVar[int]
    initial_function_costs: str
    final_function_costs: str
    init_total_cost: float
    computed_total_cost: float
    computed_steps: int
    region_plans: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, initial_function_costs: _Optional[str] = ..., final_function_costs: _Optional[str] = ..., init_total_cost: _Optional[float] = ..., computed_total_cost: _Optional[float] = ..., computed_steps: _Optional[int] = ..., region_plans: _Optional[_Iterable[str]] = ...) -> None: ...

class BalancerDecisionsResponse(_message.Message):
    __slots__ = ("balancer_decision",)
    BALANCER_DECISION_FIELD_NUMBER: _ClassVar[int]
    balancer_decision: _containers.RepeatedCompositeFieldContainer[BalancerDecision]
    def __init__(self, balancer_decision: _Optional[_Iterable[_Union[BalancerDecision, _Mapping]]] = ...) -> None: ...

class BalancerRejectionsRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class BalancerRejection(_message.Message):
    __slots__ = ("reason", "cost_func_info")
    REASON_FIELD_NUMBER: _ClassVar[int]
    COST_FUNC_INFO_FIELD_NUMBER: _ClassVar[int]
    reason: str
    cost_func_info: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, reason: _Optional[str] = ..., cost_func_info: _Optional[_Iterable[str]] = ...) -> None: ...

class BalancerRejectionsResponse(_message.Message):
    __slots__ = ("balancer_rejection",)
    BALANCER_REJECTION_FIELD_NUMBER: _ClassVar[int]
    balancer_rejection: _containers.RepeatedCompositeFieldContainer[BalancerRejection]
    def __init__(self, balancer_rejection: _Optional[_Iterable[_Union[BalancerRejection, _Mapping]]] = ...) -> None: ...
