//! Making arguments fit that nearly do: models write `"42"` for 42, a value for a list of one, null for nothing.

use serde_json::{Map, Number, Value};

use super::schema::Schema;

/// References followed inside one another at most; schemas can refer to themselves.
const DEPTH_AT_MOST: usize = 64;

/// `value` as the schema wants it, as far as that can be told. What cannot be made to fit stays as it is.
pub fn coerce(schema: &Schema, value: Value) -> Value {
    let root = Node { schema, node: schema.root(), pointer: "#".into(), depth: 0 };
    root.coerce(value)
}

/// A part of a schema.
struct Node<'a> {
    schema: &'a Schema,
    node: &'a Value,
    /// Where the part is, as `#/properties/x`.
    pointer: String,
    depth: usize,
}

impl<'a> Node<'a> {
    fn child(&self, keyword: &str) -> Option<Self> {
        let escaped = keyword.replace('~', "~0").replace('/', "~1");
        Some(self.part(self.node.get(keyword)?, format!("{}/{escaped}", self.pointer)))
    }

    fn item(&self, index: usize) -> Option<Self> {
        Some(self.part(self.node.get(index)?, format!("{}/{index}", self.pointer)))
    }

    fn part(&self, node: &'a Value, pointer: String) -> Self {
        Self { schema: self.schema, node, pointer, depth: self.depth + 1 }
    }

    /// The members of a list of schemas, such as `anyOf`.
    fn members(&self, keyword: &str) -> Vec<Self> {
        let Some(list) = self.child(keyword) else { return Vec::new() };
        let count = list.node.as_array().map_or(0, Vec::len);
        (0..count).filter_map(|index| list.item(index)).collect()
    }

    /// What the part refers to inside its document.
    fn referred(&self) -> Option<Self> {
        let reference = self.node.get("$ref")?.as_str()?;
        Some(self.part(self.schema.root().pointer(reference.strip_prefix('#')?)?, reference.to_owned()))
    }

    fn accepts(&self, value: &Value) -> Option<bool> {
        self.schema.part_accepts(&self.pointer, value)
    }

    fn coerce(&self, value: Value) -> Value {
        if self.depth > DEPTH_AT_MOST {
            return value;
        }
        let mut value = match self.referred() {
            Some(referred) => referred.coerce(value),
            None => value,
        };
        for member in self.members("allOf") {
            value = member.coerce(value);
        }
        for keyword in ["anyOf", "oneOf"] {
            value = self.coerce_to_a_member(keyword, value);
        }
        value = self.coerce_to_an_option(value);
        value = self.coerce_type(value);
        match value {
            Value::Object(map) => Value::Object(self.coerce_properties(map)),
            Value::Array(items) => Value::Array(self.coerce_items(items)),
            scalar => scalar,
        }
    }

    /// The first form that accepts the value once it is made to fit; the value itself when a form accepts it as it is.
    fn coerce_to_a_member(&self, keyword: &str, value: Value) -> Value {
        let members = self.members(keyword);
        if members.iter().any(|member| member.accepts(&value) == Some(true)) {
            return value;
        }
        members
            .iter()
            .map(|member| (member, member.coerce(value.clone())))
            .find(|(member, fitting)| member.accepts(fitting) == Some(true))
            .map_or(value, |(_, fitting)| fitting)
    }

    /// The value of `const` or of `enum` that is meant.
    fn coerce_to_an_option(&self, value: Value) -> Value {
        let one = self.node.get("const").map(std::slice::from_ref);
        let several = self.node.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        let Some(options) = one.or(several) else { return value };
        if options.contains(&value) {
            return value;
        }
        options
            .iter()
            .find(|option| convert(&value, type_of(option)).as_ref() == Some(option))
            .cloned()
            .unwrap_or(value)
    }

    fn coerce_type(&self, value: Value) -> Value {
        let types: Vec<&str> = match self.node.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => return value,
        };
        if types.iter().any(|name| has_type(&value, name)) {
            return value;
        }
        types.iter().find_map(|name| convert(&value, name)).unwrap_or(value)
    }

    /// Each property by its own schema. An optional one that is null where null is not allowed counts as not given.
    fn coerce_properties(&self, map: Map<String, Value>) -> Map<String, Value> {
        let properties = self.child("properties");
        let others = self.child("additionalProperties").filter(|others| others.node.is_object());
        if properties.is_none() && others.is_none() {
            return map;
        }
        let required = self.node.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|one| one == name));
        map.into_iter()
            .filter_map(|(name, value)| {
                let own = properties.as_ref().and_then(|properties| properties.child(&name));
                let Some(part) = own.as_ref().or(others.as_ref()) else { return Some((name, value)) };
                let by_reference = part.node.get("$ref").is_some();
                if value.is_null()
                    && own.is_some()
                    && !is_required(&name)
                    && !by_reference
                    && part.accepts(&value) == Some(false)
                {
                    return None;
                }
                Some((name, part.coerce(value)))
            })
            .collect()
    }

    fn coerce_items(&self, items: Vec<Value>) -> Vec<Value> {
        // What is `prefixItems` today was a list under `items` in older drafts.
        let mut places = self.members("prefixItems");
        places.extend(self.members("items"));
        let rest = self.child("items").filter(|items| items.node.is_object());
        if places.is_empty() && rest.is_none() {
            return items;
        }
        items
            .into_iter()
            .enumerate()
            .map(|(index, item)| match places.get(index).or(rest.as_ref()) {
                Some(part) => part.coerce(item),
                None => item,
            })
            .collect()
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.as_number().is_some_and(is_whole),
        _ => type_of(value) == name,
    }
}

fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// The value as another type, where one text or number plainly means the same.
fn convert(value: &Value, to: &str) -> Option<Value> {
    match (to, value) {
        ("string", Value::Number(number)) => Some(text_of(number).into()),
        ("string", Value::Bool(value)) => Some(value.to_string().into()),
        ("number", Value::String(text)) => number_of(text).map(Value::Number),
        ("integer", Value::String(text)) => truncate(&number_of(text)?).map(Value::Number),
        ("integer", Value::Number(number)) => truncate(number).map(Value::Number),
        ("number" | "integer", Value::Bool(value)) => Some(u8::from(*value).into()),
        ("boolean", Value::String(text)) => match text.as_str() {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        ("boolean", Value::Number(number)) => match number.as_f64() {
            Some(1.0) => Some(true.into()),
            Some(0.0) => Some(false.into()),
            _ => None,
        },
        ("array", Value::Null) => None,
        ("array", value) if !value.is_array() => Some(vec![value.clone()].into()),
        _ => None,
    }
}

fn number_of(text: &str) -> Option<Number> {
    let text = text.trim();
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    Number::from_f64(text.parse().ok()?)
}

/// A number's text; whole numbers have no fraction.
fn text_of(number: &Number) -> String {
    match truncate(number) {
        Some(whole) if is_whole(number) => whole.to_string(),
        _ => number.to_string(),
    }
}

fn truncate(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    // Beyond this, whole numbers are not exact anyway.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = number.as_f64()?.trunc();
    #[allow(clippy::cast_possible_truncation, reason = "checked")]
    (whole.abs() <= EXACT).then(|| (whole as i64).into())
}
