// Reads the arguments object from standard input, calls main of the script and stores its result.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"

	"script/inner"
)

var folder, _ = os.Getwd()

func fail(name string, message string, stack string) {
	told, _ := json.Marshal(map[string]string{"name": name, "message": message, "stack": stack})
	os.WriteFile(filepath.Join(folder, "error.json"), told, 0o600)
	os.Exit(1)
}

func main() {
	defer func() {
		if cause := recover(); cause != nil {
			fail("Panic", fmt.Sprint(cause), string(debug.Stack()))
		}
	}()
	text, _ := io.ReadAll(os.Stdin)
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &given); err != nil {
		fail("Error", err.Error(), "")
	}
	call := reflect.ValueOf(inner.EntryPoint)
	arguments := []reflect.Value{}
	for at, name := range names {
		value := reflect.New(call.Type().In(at))
		if raw, found := given[name]; found {
			if err := json.Unmarshal(raw, value.Interface()); err != nil {
				fail("ArgumentError", fmt.Sprintf("argument %s: %v", name, err), "")
			}
		}
		arguments = append(arguments, value.Elem())
	}
	var results []reflect.Value
	if call.Type().IsVariadic() {
		results = call.CallSlice(arguments)
	} else {
		results = call.Call(arguments)
	}
	var result interface{}
	for at, each := range results {
		if err, is := each.Interface().(error); is && err != nil && at == len(results)-1 {
			fail("Error", err.Error(), "")
		} else if at == 0 {
			result = each.Interface()
		}
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		fail("ResultNotSerializable", err.Error(), "")
	}
	if err := os.WriteFile(filepath.Join(folder, "result.json"), encoded, 0o600); err != nil {
		fail("Error", err.Error(), "")
	}
}
