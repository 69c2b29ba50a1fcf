%% Asks RabbitMQ's own modules for the value of selectors. A line is a selector, or the term that the JMS client made
%% of it, and name:type:value for each property, texts in base64; the answer is T, F, U, E (fails) or P (refused).
-module(rabbitmq).
-export([sql/0, jms/0]).

sql() -> run(fun sql/2).
jms() -> run(fun jms/2).

run(Answer) ->
    {ok, Asked} = file:read_file(os:getenv("ASKED")),
    Answers = [line(Line, Answer) || Line <- binary:split(Asked, <<"\n">>, [global]), Line =/= <<>>],
    ok = file:write_file(os:getenv("ANSWERED"), lists:join("\n", Answers)),
    halt().

line(Line, Answer) ->
    [Selector | Properties] = binary:split(Line, <<" ">>, [global]),
    Answer(base64:decode(Selector), [property(One) || One <- Properties]).

property(Written) ->
    [Name, Type, Value] = binary:split(Written, <<":">>, [global]),
    {Name, value(Type, base64:decode(Value))}.

value(<<"boolean">>, Value) -> {boolean, Value =:= <<"true">>};
value(<<"string">>, Value) -> {utf8, Value};
value(<<"bytes">>, Value) -> {binary, binary:decode_hex(Value)};
value(<<"float">>, Value) -> <<Single:32/float>> = <<(binary_to_float(Value)):32/float>>, {float, Single};
value(<<"double">>, Value) -> {double, binary_to_float(Value)};
value(Type, Value) -> {binary_to_atom(Type), binary_to_integer(Value)}.

parse(Selector) -> rabbit_amqp_filter_sql:parse({described, {ulong, 16#120}, {utf8, Selector}}).

sql(Selector, Properties) ->
    Own = [{{utf8, Name}, amqp(Value)} || {Name, Value} <- Properties, binary:match(Name, <<".">>) =:= nomatch],
    Sections = [{'v1_0.header', undefined, field(<<"h.priority">>, ubyte, Properties), undefined, undefined, undefined},
                fields(Properties),
                {'v1_0.application_properties', Own},
                {'v1_0.amqp_value', {utf8, <<"body">>}}],
    Message = mc_amqp:init_from_stream(iolist_to_binary([amqp10_framing:encode_bin(One) || One <- Sections]), #{}),
    case catch parse(Selector) of
        {ok, Parsed} ->
            case catch rabbit_amqp_filter_sql:eval(Parsed, Message) of
                true -> "T";
                false -> negated(Selector, Message);
                _ -> "E"
            end;
        _ -> "P"
    end.

%% The section of properties, of which those are read that headers of JMS are.
fields(Properties) ->
    {'v1_0.properties', field(<<"p.message_id">>, utf8, Properties), undefined, undefined,
     field(<<"p.subject">>, utf8, Properties), undefined, field(<<"p.correlation_id">>, utf8, Properties),
     undefined, undefined, field(<<"p.absolute_expiry_time">>, timestamp, Properties),
     field(<<"p.creation_time">>, timestamp, Properties), undefined, undefined, undefined}.

field(Name, Type, Properties) ->
    case lists:keyfind(Name, 1, Properties) of {Name, {_, Value}} -> {Type, Value}; false -> undefined end.

amqp({boolean, Value}) -> Value;
amqp(Value) -> Value.

%% FALSE and UNKNOWN are one answer, and differ under NOT.
negated(Selector, Message) ->
    {ok, Parsed} = parse(<<"NOT (", Selector/binary, ")">>),
    case rabbit_amqp_filter_sql:eval(Parsed, Message) of true -> "F"; false -> "U" end.

jms(<<>>, _) -> "P";
jms(Written, Properties) ->
    case sjx_parser:parse_term(binary_to_list(Written)) of
        {ok, Term} -> jms_answer(catch sjx_evaluator:evaluate(Term, [header(One) || One <- Properties]));
        _ -> "P"
    end.

header({Name, {boolean, Value}}) -> {Name, bool, Value};
header({Name, {utf8, Value}}) -> {Name, longstr, Value};
header({Name, {Type, Value}}) when Type =:= float; Type =:= double -> {Name, Type, Value};
header({Name, {_, Value}}) -> {Name, long, Value}.

jms_answer(true) -> "T";
jms_answer(false) -> "F";
jms_answer({'EXIT', _}) -> "E";
jms_answer(error) -> "E";
jms_answer(_) -> "U".
