"""What breaks for whom: a server is released that broke the programs that call it, because a tool
changed unseen, an alias answers something else, or a call left no trace; or one is held back for
nothing. Run: python3 test_gate.py FOLDER, where gate.py is in FOLDER.
"""
import json
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
sys.dont_write_bytecode = True
import gate  # noqa: E402

ALIAS, CALL, RESULT = 'mcp.alias.call', 'mcp.tool.call', 'mcp.tool.result'


def shape_of(text):
    return gate.shape(gate.load(text))


def events(*rows):
    """Each row: a request's id, an event, and the tool of what is no result."""
    names = {ALIAS: 'canonicalToolName', CALL: 'toolName'}
    return [(line, {'eventName': event, 'requestId': request, **({names[event]: tool[0]} if tool else {})})
            for line, (request, event, *tool) in enumerate(rows, 1)]


class Gate(unittest.TestCase):
    def rows(self, rows, judge):
        for *given, expected in rows:
            with self.subTest(given=given):
                self.assertEqual(judge(*given), expected)

    def test_a_shape_has_names_and_types_and_nothing_else(self):
        self.rows([
            ('1', '1.5e400', True), ('true', 'false', True), ('null', 'null', True), ('"x"', '"y"', True),
            ('1', '"1"', False), ('true', '1', False), ('null', '{}', False), ('{}', '[]', False),
            ('{"b": 1, "a": "x"}', '{"a":"y","b":2}', True),
            ('{"\\u0061": 1}', '{"a": 2}', True),
            ('{"a":1}', '{"b":1}', False),
            ('[1, "x", 2, "y"]', '["x", 1]', True),
            ('[{"a":1},{"a":2},{"a":null}]', '[{"a":null},{"a":1}]', True),
            ('[[1],[2,3]]', '[[9]]', True),
            ('[1]', '[]', False),
        ], lambda one, other: shape_of(one) == shape_of(other))
        for text in ('{"a":1,"a":2}', '{"\\ud800":1}', '[' * 200 + ']' * 200):
            with self.subTest(text=text), self.assertRaises(ValueError):
                shape_of(text)

    def test_a_difference_is_named_by_its_place(self):
        self.rows([
            ('{"a":1,"b":[]}', '{"a":1,"b":[]}', None),
            ('{"a":{"b":[1,2]}}', '{"a":{"b":[1,3]}}', '/a/b/1'),
            ('{"a":[1]}', '{"a":[1,2]}', '/a/1'),
            ('{"a":[1,2]}', '{"a":[1]}', '/a/1'),
            ('{"a":1}', '{"a":1,"b":2}', '/b'),
            ('{"a":1,"b":2}', '{"a":1}', '/b'),
            ('{"b":1}', '{"a":1,"b":1}', '/a'),
            ('{"a~/":1}', '{"a~/":2}', '/a~0~1'),
            ('{}', '[]', ''),
            ('1', '2', ''),
            ('1', '"1"', ''),
            ('true', '1', ''),
        ], lambda was, now: gate.difference(gate.load(was), gate.load(now)))

    def test_R004_22_a_changed_surface_is_told_tool_by_tool(self):
        plain, other, shown = ({'input': 'i', 'output': None}, {'input': 'j', 'output': None},
                               {'input': 'i', 'output': 'o'})
        self.rows([
            ({'a': plain, 'b': plain}, {'b': plain, 'a': plain}, []),
            ({'a': plain}, {'a': plain, 'b': plain}, ['b: the tool was added']),
            ({'a': plain, 'b': plain}, {'a': plain}, ['b: the tool is gone']),
            ({'a': plain}, {'a': other}, ['a: its input schema changed']),
            ({'a': plain, 'b': plain}, {'a': shown}, ['a: its output schema changed', 'b: the tool is gone']),
            ({'a': 1}, {'a': shown}, ['a: its input schema changed', 'a: its output schema changed']),
        ], gate.schema_changes)

    def test_tools_without_fingerprints_are_named(self):
        def verb(do, text):
            return {'digest': None if gate.load(text) == {'bad': gate.Number('1')} else 'd', 'canonical': text}

        class Server(gate.Gate):
            def __init__(self, tools):
                self.tools = tools

            def fetch_tools(self):
                return gate.load(json.dumps(self.tools))

        gate.verb, kept = verb, gate.verb
        self.addCleanup(lambda: setattr(gate, 'verb', kept))
        good = {'name': 'a', 'inputSchema': {}, 'outputSchema': {'bad': 1}, '_meta': {'io.mcpx/outputSchema': {}}}
        self.assertEqual(Server([good]).fingerprints(), {'a': {'input': 'sha256:d', 'output': 'sha256:d'}})
        for bad in ([{'name': 'a'}], [{'inputSchema': {}}], [good, good],
                    [{'name': 'a', 'inputSchema': {'bad': 1}}], [{**good, '_meta': {}}]):
            with self.subTest(bad=bad), self.assertRaisesRegex(gate.Failed, '^the tool a?.* has no schema'):
                Server(bad).fingerprints()

    def test_R004_17_every_call_has_one_result_and_follows_its_alias(self):
        lost, early, alone = ('this call has no result', 'there is no call that this result ends',
                              'no call follows this alias')
        self.rows([
            ([], None),
            ([('1', CALL, 't'), ('1', RESULT)], None),
            ([('1', CALL, 't'), ('2', CALL, 't'), ('2', RESULT), ('1', RESULT)], None),
            ([('1', CALL, 't'), ('1', RESULT)] * 500, None),
            ([('1', CALL, 't'), ('1', CALL, 't'), ('1', RESULT), ('1', RESULT)], None),
            ([('1', ALIAS, 't'), ('1', CALL, 't'), ('1', RESULT)], None),
            ([('1', CALL, 't')], (1, lost)),
            ([('1', CALL, 't'), ('11', CALL, 't'), ('11', RESULT)], (1, lost)),
            ([('1', RESULT)], (1, early)),
            ([('1', CALL, 't'), ('1', RESULT), ('1', RESULT)], (3, early)),
            ([('1', CALL, 't'), ('2', RESULT), ('1', RESULT)], (2, early)),
            ([('1', CALL, 't'), ('1', ALIAS, 't'), ('1', RESULT)], (2, alone)),
            ([('1', ALIAS, 't'), ('1', CALL, 'u'), ('1', RESULT)],
             (2, 'the alias before this call is one of another tool')),
            ([('2', ALIAS, 't'), ('1', CALL, 't'), ('1', RESULT)], (1, alone)),
        ], lambda rows: min(gate.story_faults(events(*rows)), default=None))

    def test_an_empty_bill_of_materials_is_none(self):
        neither = 'it has neither spdxVersion nor bomFormat'
        packages, components = (f'its {name} are no list with an item' for name in ('packages', 'components'))
        self.rows([
            ({'spdxVersion': 'SPDX-2.3', 'packages': [{}, {}]}, (None, 2)),
            ({'bomFormat': 'CycloneDX', 'components': [{}, {}]}, (None, 2)),
            ({'spdxVersion': 'SPDX-2.3', 'packages': []}, (packages, 0)),
            ({'spdxVersion': 'SPDX-2.3', 'packages': {'a': 1}}, (packages, 0)),
            ({'bomFormat': 'CycloneDX'}, (components, 0)),
            ({'packages': [{}]}, (neither, 0)),
            ({'spdxVersion': 2, 'packages': [{}]}, (neither, 0)),
            ([], (neither, 0)),
        ], gate.bill_fault)

    def test_the_code_of_an_answer_is_found_in_each_dress(self):
        def error(**content):
            return {'result': {'isError': True, 'structuredContent': content}}

        self.rows([
            ({'result': {}}, 'ok'),
            ({'result': {'isError': False}}, 'ok'),
            ({'error': {'code': 1, 'data': {'canonical_code': 'INVALID_INPUT'}}}, 'INVALID_INPUT'),
            ({'error': {'code': 1}}, 'error'),
            ({'error': {'code': 1, 'data': {'canonical_code': 'OTHER'}}}, 'error'),
            ({'result': {'isError': True}}, 'error'),
            (error(error={'error_details': {'canonical_code': 'UNAUTHORIZED'}}), 'UNAUTHORIZED'),
            (error(errors=[{'details': {'canonical_code': 'NOT_FOUND'}}, {}]), 'NOT_FOUND'),
        ], gate.outcome)

    def test_numbers_and_doubled_names_go_on_as_they_came(self):
        text = '{"a":1.0e2,"a":12345678901234567890.5,"b":[-0,null,true,"\\u00e9"]}'
        self.assertEqual(gate.dump(gate.load(text)), text)


if __name__ == '__main__':
    unittest.main()
