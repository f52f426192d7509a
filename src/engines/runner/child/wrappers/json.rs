//! JSON values, read and written without a package. Numbers keep their digits.
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Returns an object's member.
    pub fn get(&self, name: &str) -> Option<&Json> {
        if let Json::Object(entries) = self { entries.get(name) } else { None }
    }

    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value()?;
        reader.space();
        if reader.at < reader.text.len() { Err(reader.fault()) } else { Ok(value) }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Number(text) => out.write_str(text),
            Json::String(text) => quote(text, out),
            Json::Array(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if index > 0 { "," } else { "" })?;
                }
                out.write_str("]")
            }
            Json::Object(entries) => {
                out.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    out.write_str(if index > 0 { "," } else { "" })?;
                    quote(key, out)?;
                    write!(out, ":{value}")?;
                }
                out.write_str("}")
            }
        }
    }
}

fn quote(text: &str, out: &mut fmt::Formatter) -> fmt::Result {
    out.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            letter if (letter as u32) < 0x20 => write!(out, "\\u{:04x}", letter as u32)?,
            letter => write!(out, "{letter}")?,
        }
    }
    out.write_str("\"")
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn fault(&self) -> String {
        format!("the arguments are no JSON at byte {}", self.at)
    }

    fn space(&mut self) {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Skips a mark after white space, if it stands there.
    fn take(&mut self, mark: &str) -> bool {
        self.space();
        let is = self.text[self.at..].starts_with(mark.as_bytes());
        if is {
            self.at += mark.len();
        }
        is
    }

    fn value(&mut self) -> Result<Json, String> {
        if self.take("null") { return Ok(Json::Null) }
        if self.take("true") { return Ok(Json::Bool(true)) }
        if self.take("false") { return Ok(Json::Bool(false)) }
        if self.take("\"") { return self.string().map(Json::String) }
        if self.take("[") { return self.array() }
        if self.take("{") { return self.object() }
        let from = self.at;
        while self.at < self.text.len() && b"+-.eE0123456789".contains(&self.text[self.at]) {
            self.at += 1;
        }
        if from == self.at { return Err(self.fault()) }
        Ok(Json::Number(String::from_utf8_lossy(&self.text[from..self.at]).into_owned()))
    }

    fn array(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        if self.take("]") { return Ok(Json::Array(items)) }
        loop {
            items.push(self.value()?);
            if self.take("]") { return Ok(Json::Array(items)) }
            if !self.take(",") { return Err(self.fault()) }
        }
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut entries = BTreeMap::new();
        if self.take("}") { return Ok(Json::Object(entries)) }
        loop {
            if !self.take("\"") { return Err(self.fault()) }
            let key = self.string()?;
            if !self.take(":") { return Err(self.fault()) }
            entries.insert(key, self.value()?);
            if self.take("}") { return Ok(Json::Object(entries)) }
            if !self.take(",") { return Err(self.fault()) }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut units: Vec<u16> = Vec::new();
        let mut out = String::new();
        loop {
            let from = self.at;
            while self.at < self.text.len() && !b"\"\\".contains(&self.text[self.at]) {
                self.at += 1;
            }
            if self.at > from {
                flush(&mut units, &mut out);
                out.push_str(&String::from_utf8_lossy(&self.text[from..self.at]));
            }
            if self.take_byte()? == b'"' {
                flush(&mut units, &mut out);
                return Ok(out);
            }
            let letter = match self.take_byte()? {
                b'n' => '\n',
                b't' => '\t',
                b'r' => '\r',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'u' => {
                    let digits = self.text.get(self.at..self.at + 4).ok_or_else(|| self.fault())?;
                    let digits = std::str::from_utf8(digits).map_err(|_| self.fault())?;
                    units.push(u16::from_str_radix(digits, 16).map_err(|_| self.fault())?);
                    self.at += 4;
                    continue;
                }
                other => other as char,
            };
            flush(&mut units, &mut out);
            out.push(letter);
        }
    }

    fn take_byte(&mut self) -> Result<u8, String> {
        let byte = *self.text.get(self.at).ok_or_else(|| self.fault())?;
        self.at += 1;
        Ok(byte)
    }
}

/// Appends the UTF-16 units of escapes that stood together.
fn flush(units: &mut Vec<u16>, out: &mut String) {
    out.push_str(&String::from_utf16_lossy(units));
    units.clear();
}
