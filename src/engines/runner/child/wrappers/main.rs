// Reads the arguments object from standard input, calls main of the script and stores its result.
mod from_json;
mod inner;
mod json;

use from_json::{FromJson, Outcome};
use json::Json;
use std::io::Read;

fn fail(folder: &std::path::Path, name: &str, message: String) -> ! {
    let mut told = std::collections::BTreeMap::new();
    told.insert("name".to_string(), Json::String(name.to_string()));
    told.insert("message".to_string(), Json::String(message));
    let _ = std::fs::write(folder.join("error.json"), Json::Object(told).to_string());
    std::process::exit(1)
}

struct ArgumentError(String);

fn argument<T: FromJson>(given: &Json, name: &str) -> T {
    match T::from_json(given.get(name).unwrap_or(&Json::Null)) {
        Ok(value) => value,
        Err(expected) => {
            std::panic::resume_unwind(Box::new(ArgumentError(format!("argument {name}: {expected}"))))
        }
    }
}

fn main() {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut text = String::new();
    let _ = std::io::stdin().read_to_string(&mut text);
    let given = match Json::parse(&text) {
        Ok(given) => given,
        Err(message) => fail(&folder, "Error", message),
    };
    let called = std::panic::catch_unwind(|| {
        let result = include!("call.rs");
        Outcome::outcome(result)
    });
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
