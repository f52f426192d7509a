//! Conversions between JSON and the types of a script's arguments and result.
use crate::json::Json;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

pub trait FromJson: Sized {
    /// An error says what was expected.
    fn from_json(json: &Json) -> Result<Self, String>;
}

pub trait ToJson {
    fn to_json(self) -> Json;
}

/// What `main` returns: a value, or a Result whose error fails the job.
pub trait Outcome {
    fn outcome(self) -> Result<Json, String>;
}

impl<T: ToJson> Outcome for T {
    fn outcome(self) -> Result<Json, String> {
        Ok(self.to_json())
    }
}

impl<T: ToJson, E: Display> Outcome for Result<T, E> {
    fn outcome(self) -> Result<Json, String> {
        self.map(ToJson::to_json).map_err(|error| error.to_string())
    }
}

fn expected<T>(what: &str, json: &Json) -> Result<T, String> {
    Err(format!("expected {what}, got {json}"))
}

macro_rules! numbers {
    ($($type:ty),*) => { $(
        impl FromJson for $type {
            fn from_json(json: &Json) -> Result<Self, String> {
                match json {
                    Json::Number(text) => text.parse().or_else(|_| expected(stringify!($type), json)),
                    _ => expected(stringify!($type), json),
                }
            }
        }
        impl ToJson for $type {
            fn to_json(self) -> Json {
                let text = self.to_string();
                if text.contains("inf") || text.contains("NaN") { Json::Null } else { Json::Number(text) }
            }
        }
    )* };
}
numbers!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);

impl FromJson for Json {
    fn from_json(json: &Json) -> Result<Self, String> {
        Ok(json.clone())
    }
}
impl FromJson for bool {
    fn from_json(json: &Json) -> Result<Self, String> {
        if let Json::Bool(value) = json { Ok(*value) } else { expected("bool", json) }
    }
}
impl FromJson for String {
    fn from_json(json: &Json) -> Result<Self, String> {
        if let Json::String(value) = json { Ok(value.clone()) } else { expected("String", json) }
    }
}
impl FromJson for &'static str {
    fn from_json(json: &Json) -> Result<Self, String> {
        String::from_json(json).map(|text| &*text.leak())
    }
}
impl<T: FromJson> FromJson for Option<T> {
    fn from_json(json: &Json) -> Result<Self, String> {
        if let Json::Null = json { Ok(None) } else { T::from_json(json).map(Some) }
    }
}
impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(json: &Json) -> Result<Self, String> {
        if let Json::Array(items) = json { items.iter().map(T::from_json).collect() } else { expected("an array", json) }
    }
}
impl<T: FromJson> FromJson for HashMap<String, T> {
    fn from_json(json: &Json) -> Result<Self, String> {
        BTreeMap::from_json(json).map(|map| map.into_iter().collect())
    }
}
impl<T: FromJson> FromJson for BTreeMap<String, T> {
    fn from_json(json: &Json) -> Result<Self, String> {
        let Json::Object(entries) = json else { return expected("an object", json) };
        entries.iter().map(|(key, value)| Ok((key.clone(), T::from_json(value)?))).collect()
    }
}

impl ToJson for Json {
    fn to_json(self) -> Json {
        self
    }
}
impl ToJson for () {
    fn to_json(self) -> Json {
        Json::Null
    }
}
impl ToJson for bool {
    fn to_json(self) -> Json {
        Json::Bool(self)
    }
}
impl ToJson for String {
    fn to_json(self) -> Json {
        Json::String(self)
    }
}
impl ToJson for &str {
    fn to_json(self) -> Json {
        Json::String(self.to_string())
    }
}
impl<T: ToJson> ToJson for Option<T> {
    fn to_json(self) -> Json {
        self.map_or(Json::Null, ToJson::to_json)
    }
}
impl<T: ToJson> ToJson for Vec<T> {
    fn to_json(self) -> Json {
        Json::Array(self.into_iter().map(ToJson::to_json).collect())
    }
}
impl<T: ToJson> ToJson for HashMap<String, T> {
    fn to_json(self) -> Json {
        Json::Object(self.into_iter().map(|(key, value)| (key, value.to_json())).collect())
    }
}
impl<T: ToJson> ToJson for BTreeMap<String, T> {
    fn to_json(self) -> Json {
        Json::Object(self.into_iter().map(|(key, value)| (key, value.to_json())).collect())
    }
}
impl<A: ToJson, B: ToJson> ToJson for (A, B) {
    fn to_json(self) -> Json {
        Json::Array(vec![self.0.to_json(), self.1.to_json()])
    }
}
