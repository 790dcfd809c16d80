// What ajv takes to judge the documents that bench_schema has written, JSON.parse included:
//     node tests/bench/schema.mjs DIRECTORY      (after npm ci in tests/e2e)
// Processor time of the process, best of seven rounds.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

const require = createRequire(new URL("../e2e/package.json", import.meta.url))
const Ajv = require("ajv")
const Ajv2020 = require("ajv/dist/2020")
const directory = process.argv[2]

for (const name of ["arguments", "response", "envelope", "hits"]) {
    const schema = JSON.parse(readFileSync(join(directory, `${name}.schema.json`)))
    const text = readFileSync(join(directory, `${name}.json`), "utf8")
    const options = { strict: false, validateFormats: false, logger: false }
    const ajv = schema.$schema.includes("draft-07") ? new Ajv(options) : new Ajv2020(options)
    const validate = ajv.compile(schema)
    const times = Math.max(200, Math.round(4e7 / (text.length + 100)))
    let best = Infinity
    for (let round = 0; round < 7; round++) {
        const begin = process.cpuUsage()
        for (let i = 0; i < times; i++) {
            if (!validate(JSON.parse(text))) throw new Error(JSON.stringify(validate.errors))
        }
        const spent = process.cpuUsage(begin)
        best = Math.min(best, (spent.user + spent.system) / times)
    }
    console.log(`${name}, ${text.length} B: ${best.toFixed(3)} us (ajv)`)
}
