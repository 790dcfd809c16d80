"""gate.py - the items of `mcpxctl gate`: is a server still what its callers rely on?

The verb runs this script and does what the script asks for, so that neither a token nor a connection
is here. Each line of standard output is a request, each line of standard input its answer:

    {"do": "ask", "method": ..., "params": JSON}     {"text": the JSON-RPC response}
    {"do": "judge", "contract": ..., "text": ...}    {"fault": null, or what is wrong}
    {"do": "read", "text": ...}                      {"fault": ...}, or {"canonical": null when it is
                                                     ambiguous, "digest": ..., "pretty": ...}
    {"do": "report", "item", "verdict", "detail"}    {"line": as --json prints it}

JSON is passed as text, as the one side has it, in a string. When the verb cannot go on, standard input
ends.
"""
import argparse
import collections
import glob
import hashlib
import json
import os
import signal
import sys
import uuid

CONTEXT_MEMBER = 'io.mcpx/context'
OUTPUT_SCHEMA_MEMBER = 'io.mcpx/outputSchema'
HANDSHAKE_TOOL = 'mcp.capabilities.get'
CODES = ('INVALID_INPUT', 'INVALID_OUTPUT', 'NOT_FOUND', 'UNAUTHORIZED', 'INTERNAL_ERROR')
NO_TOOL = 'gate.no-such-tool'  # a name that no server has
FILE_MAX = 16 << 20
PAGES_MAX = 1000
DEPTH_MAX = 128


class Failed(Exception):
    """An item says no; the message is its detail."""


class Skipped(Exception):
    """An item was not asked, because something is missing."""


# ---- JSON: a number is its text, and repeated names are kept ----

Number = collections.namedtuple('Number', 'text')


class Object(dict):
    """An object; `pairs` are its members as they were written."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.pairs = pairs


def load(text):
    return json.loads(text, object_pairs_hook=Object, parse_int=Number, parse_float=Number)


def dump(value):
    if isinstance(value, Number):
        return value.text
    if isinstance(value, list):
        return '[' + ','.join(map(dump, value)) + ']'
    if isinstance(value, dict):
        pairs = value.pairs if isinstance(value, Object) else value.items()
        return '{' + ','.join(json.dumps(name) + ':' + dump(of) for name, of in pairs) + '}'
    return json.dumps(value)


def get(value, *names):
    """The member of a member; None when there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def items(value):
    return value if isinstance(value, list) else []


def without_meta(value):
    return Object([pair for pair in value.pairs if pair[0] != '_meta']) if isinstance(value, Object) else value


# ---- comparisons ----

def bill_fault(bill):
    """What is wrong with a bill of materials, else None; and how many things it lists."""
    for sign, member in (('spdxVersion', 'packages'), ('bomFormat', 'components')):
        if isinstance(get(bill, sign), str):
            count = len(items(get(bill, member)))
            return None if count else f'its {member} are no list with an item', count
    return 'it has neither spdxVersion nor bomFormat', 0


def difference(was, now):
    """The JSON Pointer of what differs first in two documents, both canonical; None: nothing does."""
    if isinstance(was, dict) and isinstance(now, dict):
        old, new = list(was.items()), list(now.items())
    elif isinstance(was, list) and isinstance(now, list):
        old, new = list(enumerate(was)), list(enumerate(now))
    else:
        return None if was == now else ''
    for i in range(max(len(old), len(new))):
        name = (new if i < len(new) else old)[i][0]
        below = ''
        if i < len(new) and i < len(old) and old[i][0] == name:
            below = difference(old[i][1], new[i][1])
        if below is not None:
            return '/' + str(name).replace('~', '~0').replace('/', '~1') + below
    return None


def schema_changes(was, now):
    """A sentence about each tool that was added, changed or is gone."""
    changes = []
    for name, schemas in now.items():
        if name not in was:
            changes.append(f'{name}: the tool was added')
            continue
        changes += [f'{name}: its {which} schema changed' for which in ('input', 'output')
                    if get(was[name], which) != schemas[which]]
    return changes + [f'{name}: the tool is gone' for name in was if name not in now]


def shape(value, depth=0):
    """Names of members and types of values, comparable; ValueError for what has no shape."""
    if depth > DEPTH_MAX:
        raise ValueError('too deep')
    if isinstance(value, list):
        return 'array', frozenset(shape(item, depth + 1) for item in value)
    if isinstance(value, dict):
        if len(value) < len(value.pairs):
            raise ValueError('ambiguous')
        for name in value:
            name.encode()  # half a surrogate pair is a ValueError, too
        return 'object', frozenset((name, shape(of, depth + 1)) for name, of in value.items())
    return type(value).__name__


class Story:
    """What the log has of one request so far: an alias without its call, the last call, open calls."""

    def __init__(self):
        self.alias, self.call, self.open = None, None, 0


def story_faults(events):
    """`(line, what)` of each event, `(line, its JSON)`, that has no partner."""
    stories = collections.defaultdict(Story)
    for line, event in events:
        story, kind = stories[dump(event.get('requestId'))], event.get('eventName')
        if kind == 'mcp.alias.call':
            if story.alias:
                yield story.alias[0], 'no call follows this alias'
            story.alias = line, event.get('canonicalToolName')
        elif kind == 'mcp.tool.call':
            if story.alias and story.alias[1] != event.get('toolName'):
                yield line, 'the alias before this call is one of another tool'
            story.alias, story.call, story.open = None, line, story.open + 1
        elif story.open == 0:
            yield line, 'there is no call that this result ends'
        else:
            story.open -= 1
    for story in stories.values():
        if story.alias:
            yield story.alias[0], 'no call follows this alias'
        if story.open:
            yield story.call, 'this call has no result'


def outcome(response):
    """"ok", the canonical code of an error, or "error" for one without."""
    if isinstance(response, dict) and 'error' in response:
        code = get(response, 'error', 'data', 'canonical_code')
    elif get(response, 'result', 'isError') is not True:
        return 'ok'
    else:
        envelope = get(response, 'result', 'structuredContent')
        details = get(envelope, 'error', 'error_details')
        if details is None:
            details = get((items(get(envelope, 'errors')) + [None])[0], 'details')
        code = get(details, 'canonical_code')
    return code if code in CODES else 'error'


# ---- requests to the verb, and files ----

def verb(do, **what):
    """Lets the verb do something; the script ends with it."""
    try:
        print(json.dumps({'do': do, **what}), flush=True)
        return json.loads(sys.stdin.readline())
    except (BrokenPipeError, json.JSONDecodeError):
        os._exit(0)  # without writing the rest of standard output


def keep_contract(contract, text):
    fault = verb('judge', contract=contract, text=text)['fault']
    if fault:
        raise Failed(fault)


def read_file(path):
    """A file without a byte order mark; what is not UTF-8 in it is kept."""
    try:
        with open(path, 'rb') as file:
            text = file.read(FILE_MAX + 1)
    except (OSError, ValueError) as error:
        raise Failed(f'{path}: {getattr(error, "strerror", error)}') from None
    if len(text) > FILE_MAX:
        raise Failed(f'{path}: longer than {FILE_MAX >> 20} MiB')
    return text.decode('utf-8', 'surrogateescape').removeprefix('\ufeff')


def read_json(path):
    """A file's text, and what the verb knows of it."""
    text = read_file(path)
    known = verb('read', text=text)
    if known['fault']:
        raise Failed(f'{path}, {known["fault"]}')
    return text, known


def write_file(path, text):
    try:
        with open(path, 'wb') as file:
            file.write(text.encode('utf-8', 'surrogateescape'))
    except OSError as error:
        raise Failed(f'{path}: {error.strerror}') from None


class Gate:
    """A gate at work: `asked` is the command line, `called` the ids that the edge's log must have."""

    def __init__(self, asked):
        self.asked = asked
        self.handshake = None
        self.context = self.first_context()
        self.called = []
        self.report = ''

    def path(self, name):
        return f'{self.asked.folder}/{name}'

    def fixtures(self, sort):
        folder = glob.escape(self.path(f'context/{sort}'))
        return sorted(glob.glob(f'{folder}/*.json'))

    def first_context(self):
        """A valid one from the folder, for calls that are about something else; None: there is none."""
        try:
            context = load(read_json(self.fixtures('valid')[0])[0])
        except (IndexError, Failed):
            return None
        return dict(context) if isinstance(context, dict) else None

    def meta(self, request):
        meta = {'request_id': request}
        if self.context is not None:
            meta[CONTEXT_MEMBER] = {**self.context, 'requestId': request}
        return dump(meta)

    def ask(self, method, params):
        return load(verb('ask', method=method, params=params)['text'])

    def call(self, tool, arguments, meta):
        return self.ask('tools/call', f'{{"name":{json.dumps(tool)},"arguments":{arguments},"_meta":{meta}}}')

    def call_anew(self, tool, arguments, told=False):
        """Calls with an id of its own; one that is `told` stands in the edge's telemetry."""
        request = f'gate-{uuid.uuid4().hex}'
        if told:
            self.called.append(request)
        return self.call(tool, arguments, self.meta(request))

    def fetch_handshake(self):
        if self.handshake is None:
            answer = self.call_anew(HANDSHAKE_TOOL, '{}')
            self.handshake = get(answer, 'result', 'structuredContent') or Object([])
        return self.handshake

    def fetch_tools(self):
        tools, cursor = [], None
        for _ in range(PAGES_MAX):
            result = get(self.ask('tools/list', dump({'cursor': cursor} if cursor is not None else {})), 'result')
            tools += items(get(result, 'tools'))
            cursor = get(result, 'nextCursor')
            if not isinstance(cursor, str):
                break
        return tools

    def write_down(self, name, value):
        """Writes a file of the folder anew, in a layout that can be read and compared line by line."""
        write_file(self.path(name), verb('read', text=dump(value))['pretty'] + '\n')
        return f'{self.path(name)} was written anew'

    # ---- the items handshake and drift: does the server match the recorded files? ----

    def handshake_item(self):
        now = self.fetch_handshake()
        if not now:
            raise Failed(f'{HANDSHAKE_TOOL} is not answered')
        keep_contract('capabilities', dump(now))
        for namespace in items(get(now, 'toolNamespaces')):
            if get(namespace, 'ownerTeam') == 'unowned':
                raise Failed(f'nobody owns the namespace {namespace.get("namespace")}')
        if self.asked.update:
            return self.write_down('capabilities.json', now)
        path = self.path('capabilities.json')
        sides = read_json(path)[1]['canonical'], verb('read', text=dump(now))['canonical']
        if None in sides:
            raise Failed(f'{path} cannot be compared: it is ambiguous')
        place = difference(*map(load, sides))
        if place is not None:
            raise Failed(f'differs from {path} at {place or "its root"}')
        return f'namespaces: {len(items(get(now, "toolNamespaces")))}'

    @staticmethod
    def fingerprint(schema):
        return None if schema is None else f'sha256:{verb("read", text=dump(schema))["digest"] or ""}'

    def fingerprints(self):
        """{tool: {"input": ..., "output": ... or None}} of the server, in the order of the names."""
        found = {}
        for tool in self.fetch_tools():
            name, shown = get(tool, 'name'), get(tool, '_meta', OUTPUT_SCHEMA_MEMBER)
            output = shown if shown is not None else get(tool, 'outputSchema')
            sums = {'input': self.fingerprint(get(tool, 'inputSchema')), 'output': self.fingerprint(output)}
            if not isinstance(name, str) or name in found or not sums['input'] or 'sha256:' in sums.values():
                raise Failed(f'the tool {name if isinstance(name, str) else dump(name)} has no schema that has a fingerprint, or stands twice')
            found[name] = sums
        return load(verb('read', text=dump(found))['canonical'])

    def drift_item(self):
        now = self.fingerprints()
        if self.asked.update:
            return self.write_down('schemas.json', now)
        canonical = read_json(self.path('schemas.json'))[1]['canonical']
        if canonical is None:
            raise Failed('what was written down is ambiguous')
        was = load(canonical)
        if was != now:
            raise Failed('; '.join(schema_changes(was if isinstance(was, dict) else {}, now)))
        return f'tools: {len(now)}'

    # ---- the item aliases: does an old name act as the tool, in success and in failure? ----

    def is_promised(self, alias, tool):
        """The handshake lists the alias, as another name of this very tool; or the namespace says so."""
        promises = get(self.fetch_handshake(), 'compatibility')
        return f'{get(promises, "aliasNamespace") or ""}.{tool}' == alias or any(
            get(row, 'alias') == alias and get(row, 'canonical') == tool
            for row in items(get(promises, 'aliases')))

    def compare_answers(self, tool, alias, arguments):
        """Both names answer, and in the same shape but for `_meta`."""
        answers = [self.call_anew(name, arguments, told=True) for name in (tool, alias)]
        first, second = map(outcome, answers)
        if (first, second) != ('ok', 'ok'):
            raise Failed(f'with its fixture the tool answers {first}, the alias {second}')
        try:
            shapes = {shape(without_meta(get(answer, 'result'))) for answer in answers}
        except ValueError:
            raise Failed('an answer is too deep or ambiguous') from None
        if len(shapes) > 1:
            raise Failed('the alias answers in another shape than the tool')

    def compare_refusals(self, tool, alias, arguments):
        """Both names are refused with the same code."""
        first, second = (outcome(self.call_anew(name, arguments)) for name in (tool, alias))
        if first == 'ok' or first != second:
            raise Failed(f'to a call that cannot work the tool answers {first}, the alias {second}')

    def try_row(self, row, before):
        alias, tool, fixture = (get(row, name) for name in ('legacyAlias', 'canonicalTool', 'fixture'))
        if not all(isinstance(word, str) for word in (alias, tool, fixture)) or \
                row.get('parityMode') != 'response_shape':
            raise Failed('a row has legacyAlias, canonicalTool, the parityMode response_shape and a fixture')
        if any(other['legacyAlias'] == alias or other['canonicalTool'] == tool for other in before):
            raise Failed('the alias or its tool stands twice')
        if not self.is_promised(alias, tool):
            raise Failed(f'the handshake knows no such alias of {tool}')
        self.compare_answers(tool, alias, read_json(self.path(fixture))[0])
        self.compare_refusals(tool, alias, '[]')

    def aliases_item(self):
        namespace = get(self.fetch_handshake(), 'compatibility', 'aliasNamespace')
        path = self.path('aliases.json')
        rows = load(read_json(path)[0])
        if not isinstance(rows, list):
            raise Failed(f'{path} is no list')
        for i, row in enumerate(rows):
            try:
                self.try_row(row, rows[:i])
            except Failed as failed:
                raise Failed(f'{get(row, "legacyAlias") or ""}: {failed}') from None
        if namespace:  # a name without a tool is unknown with the namespace, too
            self.compare_refusals(NO_TOOL, f'{namespace}.{NO_TOOL}', '{}')
        return f'aliases: {len(rows)}'

    # ---- the item context: contract and enforcement point decide as the folder's name says ----

    def judge_context(self, text, is_valid, with_arguments):
        """What is called is the handshake, which changes nothing."""
        fault = verb('judge', contract='context', text=text)['fault']
        if (fault is None) != is_valid:
            raise Failed(fault or 'keeps the contract')
        if verb('read', text=text)['fault']:
            return  # only JSON can be sent
        expected = 'ok' if is_valid else 'INVALID_INPUT'
        ways = [('_meta', '{}', f'{{"{CONTEXT_MEMBER}":{text}}}'), ('arguments', f'{{"context":{text}}}', '{}')]
        for place, arguments, meta in ways[:2 if with_arguments else 1]:
            answer = outcome(self.call(HANDSHAKE_TOOL, arguments, meta))
            if answer != expected:
                raise Failed(f'in {place} the edge answers {answer}, expected is {expected}')

    def context_item(self):
        # Contract settings may make the context an argument: then the handshake has it, too.
        with_arguments = any(
            get(tool, 'name') == HANDSHAKE_TOOL and get(tool, 'inputSchema', 'properties', 'context') is not None
            for tool in self.fetch_tools())
        counts = []
        for sort in ('valid', 'invalid'):
            paths = self.fixtures(sort)
            for path in paths:
                try:
                    self.judge_context(read_file(path), sort == 'valid', with_arguments)
                except Failed as failed:
                    raise Failed(f'context/{sort}/{os.path.basename(path)}: {failed}') from None
            counts.append(len(paths))
        if 0 in counts:
            raise Skipped('context/valid and context/invalid each need a file')
        return 'valid: {}, invalid: {}'.format(*counts)

    # ---- the items telemetry, sbom and evidence: files of an enforcement point and a build ----

    def telemetry_item(self):
        if not self.asked.telemetry:
            raise Skipped('--telemetry FILE names the log of the edge')
        self.fetch_tools()  # after the answer, the log has all earlier calls
        log, events = read_file(self.asked.telemetry), []
        for number, line in enumerate(log.removesuffix('\n').split('\n') if log else [], 1):
            try:
                keep_contract('event', line)
            except Failed as failed:
                raise Failed(f'line {number} {failed}') from None
            events.append((number, load(line)))
        for number, what in sorted(story_faults(events))[:1]:
            raise Failed(f'line {number}: {what}')
        calls = {event.get('requestId') for _, event in events if event.get('eventName') == 'mcp.tool.call'}
        for request in self.called:
            if request not in calls:
                raise Failed(f'the call {request}, just made, is not in it')
        return f'events: {len(events)}'

    def sbom_item(self):
        if not self.asked.sbom:
            raise Skipped('--sbom FILE names the bill of materials')
        text = read_file(self.asked.sbom)
        if verb('read', text=text)['fault']:
            raise Failed(f'{self.asked.sbom}: it is no JSON')
        fault, count = bill_fault(load(text))
        if fault:
            raise Failed(f'{self.asked.sbom}: {fault}')
        return f'packages: {count}'

    def evidence_item(self):
        folder, sums = self.asked.evidence, ''
        if not folder:
            raise Skipped('--evidence DIR names a folder for it')
        try:
            os.mkdir(folder)
        except FileExistsError:
            pass
        except OSError as error:
            raise Failed(f'{folder}: {error.strerror}') from None
        handshake = self.fetch_handshake()
        pieces = {'report.jsonl': self.report, 'capabilities.json': dump(handshake) if handshake else ''}
        for path, name in ((self.asked.telemetry, 'telemetry.jsonl'), (self.asked.sbom, 'sbom.json')):
            if path:
                pieces[name] = read_file(path)
        for name, text in pieces.items():
            write_file(f'{folder}/{name}', text)
            sums += f'{hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()}  {name}\n'
        write_file(f'{folder}/SHA256SUMS', sums)
        return f'{folder}/SHA256SUMS lists it'

    # ---- all items, in order ----

    # The order matters: the log has the calls of earlier items, and evidence has their report.
    ITEMS = {'handshake': handshake_item, 'context': context_item, 'aliases': aliases_item,
             'telemetry': telemetry_item, 'drift': drift_item, 'sbom': sbom_item, 'evidence': evidence_item}

    def ask_items(self):
        for item, question in self.ITEMS.items():
            if self.asked.only and item not in self.asked.only:
                continue
            try:
                verdict, detail = 'pass', question(self)
            except Failed as failed:
                verdict, detail = 'fail', str(failed)
            except Skipped as skipped:
                verdict, detail = 'skip', str(skipped)
            except RecursionError:
                verdict, detail = 'fail', 'an answer is too deep or ambiguous'
            detail = detail.encode('utf-8', 'backslashreplace').decode()
            self.report += verb('report', item=item, verdict=verdict, detail=detail)['line']


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the verb gets the signal, too, and ends
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument('folder')
    parser.add_argument('--only', action='append')
    parser.add_argument('--update', action='store_true')
    for option in ('--telemetry', '--sbom', '--evidence'):
        parser.add_argument(option)
    Gate(parser.parse_args()).ask_items()


if __name__ == '__main__':
    main()
