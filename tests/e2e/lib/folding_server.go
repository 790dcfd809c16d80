// folding_server.go - an MCP server as one writes it in Go: encoding/json matches the names of
// members without letter case, and of several the last one wins. What it executed it tells whoever
// calls read_executed. Standard library only.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string `json:"name"`
		ProtocolVersion string `json:"protocolVersion"`
	} `json:"params"`
}

func tool(name string) map[string]any {
	return map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}}
}

func main() {
	executed := []string{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var call request
		if json.Unmarshal(lines.Bytes(), &call) != nil {
			continue
		}
		var result any = map[string]any{}
		switch call.Method {
		case "initialize":
			result = map[string]any{
				"protocolVersion": call.Params.ProtocolVersion,
				"capabilities":    map[string]any{"tools": map[string]any{}},
				"serverInfo":      map[string]any{"name": "folding", "version": "1"},
			}
		case "tools/list":
			result = map[string]any{"tools": []any{tool("read_executed"), tool("delete_all")}}
		case "tools/call":
			text := "done"
			if call.Params.Name == "read_executed" {
				text = strings.Join(executed, " ")
			} else {
				executed = append(executed, call.Params.Name)
			}
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
		case "server/discover":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", call.ID)
			continue
		}
		if len(call.ID) == 0 {
			continue
		}
		answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": result})
		fmt.Println(string(answer))
	}
}
