# Joins a topic, says hello, prints what it hears, answers one request and leaves.
# Debian: python3-websockets. Set MCPX_URL (ws://HOST:PORT), MCPX_TOPIC, MCPX_TOKEN.
import asyncio, json, os, uuid, websockets

async def main(url, topic, token):
    new = int(websockets.__version__.split(".")[0]) >= 14  # 14 renamed an argument
    headers = {"additional_headers" if new else "extra_headers": {"Authorization": f"Bearer {token}"}}
    async with websockets.connect(f"{url}/ws?topic={topic}", **headers) as ws:
        async def say(kind, payload, **more):
            envelope = {"protocol": "mcpx/v0.1", "id": str(uuid.uuid4()), "kind": kind}
            await ws.send(json.dumps({**envelope, "payload": payload, **more}))
        me = json.loads(await ws.recv())["payload"]["you"]["id"]
        await say("chat", {"text": "hello"})
        async for text in ws:
            print(text, flush=True)
            heard = json.loads(text)
            if heard["kind"].startswith("mcp/request:") and heard.get("to") == [me]:
                answer = {"jsonrpc": "2.0", "id": heard["payload"]["id"], "result": {}}
                return await say("mcp/response" + heard["kind"][11:], answer,
                                 to=[heard["from"]], correlation_id=heard["id"])

asyncio.run(main(os.environ["MCPX_URL"], os.environ["MCPX_TOPIC"], os.environ["MCPX_TOKEN"]))
