// A broadcast server on Bun, whose WebSockets are uWebSockets and whose TLS is BoringSSL.
//     bun peer_bun.js FOLDER
const folder = process.argv[2];
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  tls: { cert: Bun.file(`${folder}/cert.pem`), key: Bun.file(`${folder}/key.pem`) },
  fetch(request, self) {
    const topic = new URL(request.url).searchParams.get('topic') ?? '';
    return self.upgrade(request, { data: { topic } }) ? undefined : new Response('no', { status: 400 });
  },
  websocket: {
    perMessageDeflate: false,
    idleTimeout: 960,
    maxPayloadLength: 1 << 20,
    backpressureLimit: 64 << 20,
    open(socket) { socket.subscribe(socket.data.topic); },
    message(socket, text) { server.publish(socket.data.topic, text); },
  },
});
console.log(`listening wss://127.0.0.1:${server.port}`);
