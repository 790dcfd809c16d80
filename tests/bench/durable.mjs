// What it costs that nothing is read before it is stored: the real router with SQLite, `full`, beside
// write and fdatasync of the same bytes on the same disk.
//     MCPX_BINARY_DIR=$PWD/build/release node tests/bench/durable.mjs [small]      (after npm ci in tests/e2e)
// Echo: 1,000 messages of 256 bytes a second, each timed until it comes back to its sender.
// Ceiling: one sender, 2,000 messages on their way, with an audit. Opening: topics of 1,000 messages out
// of a million (`small`: out of 20,000), each joined for the first time since the router was started.
import { randomUUID } from "node:crypto"
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs"
import { createRequire } from "node:module"
import { Disk } from "../e2e/lib/disk.mjs"

const require = createRequire(new URL("../e2e/package.json", import.meta.url))
const { WebSocket } = require("ws")
const small = process.argv[2] === "small"
const prefix = randomUUID().slice(0, 24)
let number = 0

function at(sorted, part) {
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
}

function times(list) {
    const sorted = [...list].sort((a, b) => a - b)
    return `p50 ${at(sorted, 0.5).toFixed(2)} ms, p99 ${at(sorted, 0.99).toFixed(2)} ms`
}

// The router's errors end the measurement: every message is to be stored.
async function join(router, topic, heard) {
    const token = await router.token("ann", topic, ["*"])
    const socket = new WebSocket(`${router.url}?topic=${topic}&history=0`, {
        headers: { authorization: `Bearer ${token}` },
        perMessageDeflate: false,
    })
    await new Promise((done, fail) => {
        socket.on("error", fail)
        socket.on("close", (code) => fail(new Error(`closed: ${code}`)))
        socket.on("message", (data) => {
            const text = data.toString()
            if (text.includes("system/welcome")) done()
            else if (text.includes("system/error")) throw new Error(text)
            else if (!text.includes('"system/')) heard?.(text)
        })
    })
    return socket
}

function message(bytes) {
    number += 1
    const id = `${prefix}${String(number).padStart(12, "0")}`
    const head = `{"protocol":"mcpx/v0.1","id":"${id}","kind":"chat","payload":{"text":"`
    return `${head}${"x".repeat(Math.max(0, bytes - head.length - 3))}"}}`
}

function numberOf(text) {
    const from = text.indexOf(prefix) + prefix.length
    return Number(text.slice(from, from + 12))
}

function syncs(disk, bytes, count) {
    const file = openSync(`${disk.file}.floor`, "w")
    const block = Buffer.alloc(bytes, 120)
    const list = []
    for (let i = 0; i < count; i++) {
        const begin = performance.now()
        writeSync(file, block)
        fdatasyncSync(file)
        list.push(performance.now() - begin)
    }
    closeSync(file)
    return list
}

async function echo(router, seconds) {
    const sent = new Map()
    const list = []
    let finish
    const all = new Promise((done) => { finish = done })
    const socket = await join(router, "echo", (text) => {
        list.push(performance.now() - sent.get(numberOf(text)))
        if (list.length === seconds * 1000) finish()
    })
    const begin = performance.now()
    const tick = setInterval(() => {
        const due = Math.min(seconds * 1000, Math.floor(performance.now() - begin))
        while (sent.size < due) {
            const text = message(256)
            sent.set(number, performance.now())
            socket.send(text)
        }
        if (sent.size === seconds * 1000) clearInterval(tick)
    }, 1)
    await all
    socket.terminate()
    return list
}

// Sends `count` messages, at most 2,000 of them on their way. Returns messages per second.
async function fill(router, topic, bytes, count) {
    let heard = 0
    let sent = 0
    let finish
    const all = new Promise((done) => { finish = done })
    const more = () => {
        while (sent < count && sent - heard < 2000) {
            socket.send(message(bytes))
            sent += 1
        }
    }
    const socket = await join(router, topic, () => {
        heard += 1
        if (heard === count) finish()
        else if (heard % 200 === 0) more()
    })
    const begin = performance.now()
    more()
    await all
    socket.terminate()
    return count / ((performance.now() - begin) / 1000)
}

async function open(disk, topics) {
    const first = []
    const second = []
    let router = await disk.start()
    for (let i = 0; i < topics; i++) await fill(router, `room-${i}`, 256, 1000)
    await router.stop()
    router = await disk.start()
    for (let i = 0; i < Math.min(topics, 200); i++) {
        const topic = `room-${(i * 7) % topics}`
        for (const list of [first, second]) {
            const begin = performance.now()
            const socket = await join(router, topic)
            list.push(performance.now() - begin)
            socket.terminate()
        }
    }
    await router.stop()
    return { first, second }
}

const plain = await Disk.make()
let router = await plain.start()
for (let round = 0; round < 3; round++) {
    console.log(`write + fdatasync, 256 B: ${times(syncs(plain, 256, 500))}`)
    console.log(`echo, 1,000 x 256 B a second: ${times(await echo(router, small ? 2 : 10))}`)
}
await router.stop()
plain.remove()
for (const audit of [false, true]) {
    const disk = await Disk.make({ audit })
    router = await disk.start()
    for (const [bytes, count] of [[256, 100000], [4096, 30000]]) {
        const rate = await fill(router, `ceiling-${bytes}`, bytes, small ? count / 20 : count)
        console.log(`ceiling, ${bytes} B, ${audit ? "with" : "without"} an audit: ${Math.round(rate)} a second`)
    }
    await router.stop()
    disk.remove()
}
const disk = await Disk.make()
const { first, second } = await open(disk, small ? 20 : 1000)
console.log(`join of a topic that is not open: ${times(first)}`)
console.log(`join of the same, open: ${times(second)}`)
disk.remove()
