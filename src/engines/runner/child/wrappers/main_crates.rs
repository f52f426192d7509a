// Reads the arguments object from standard input, calls main of the script and stores its result, by serde.
mod inner;

use serde::{de::DeserializeOwned, Serialize};
use serde_json::{json, Value};
use std::fmt::Display;
use std::io::Read;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

fn fail(folder: &std::path::Path, name: &str, message: String) -> ! {
    let told = json!({ "name": name, "message": message });
    let _ = std::fs::write(folder.join("error.json"), told.to_string());
    std::process::exit(1)
}

struct ArgumentError(String);

fn argument<T: DeserializeOwned>(given: &Value, name: &str) -> T {
    let value = given.get(name).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).unwrap_or_else(|error| {
        resume_unwind(Box::new(ArgumentError(format!("argument {name}: {error}"))))
    })
}

/// What main returned. The method of its own, for a Result, comes before the one of the trait, for all values.
struct Returned<T>(T);

impl<T: Serialize, E: Display> Returned<Result<T, E>> {
    fn outcome(self) -> Result<Value, String> {
        let value = self.0.map_err(|error| format!("{error:#}"))?;
        serde_json::to_value(value).map_err(|error| error.to_string())
    }
}

trait ToOutcome {
    fn outcome(self) -> Result<Value, String>;
}

impl<T: Serialize> ToOutcome for Returned<T> {
    fn outcome(self) -> Result<Value, String> {
        serde_json::to_value(self.0).map_err(|error| error.to_string())
    }
}

fn main() {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut text = String::new();
    let _ = std::io::stdin().read_to_string(&mut text);
    let given: Value = match serde_json::from_str(&text) {
        Ok(given) => given,
        Err(error) => fail(&folder, "Error", error.to_string()),
    };
    let called = catch_unwind(AssertUnwindSafe(|| Returned(include!("call.rs")).outcome()));
    match called {
        Ok(Ok(result)) => {
            if let Err(error) = std::fs::write(folder.join("result.json"), result.to_string()) {
                fail(&folder, "Error", error.to_string())
            }
        }
        Ok(Err(message)) => fail(&folder, "Error", message),
        Err(cause) => {
            if let Some(ArgumentError(message)) = cause.downcast_ref() {
                fail(&folder, "ArgumentError", message.clone())
            }
            let text = cause.downcast_ref::<String>().cloned();
            let message = text.or(cause.downcast_ref::<&str>().map(|text| text.to_string()));
            fail(&folder, "Panic", message.unwrap_or_default())
        }
    }
}
