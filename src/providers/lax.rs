//! Typed decoding that forgives odd shapes.
//!
//! Gateways send `null`, numbers or objects where the documents promise a string. With these field types such a value
//! reads as "nothing" instead of failing the whole event, and a text without escapes is borrowed, not copied.
//! (`Option<Cow<str>>` would always copy.)

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

/// Visitor methods for the shapes that a type does not want: they are read and forgotten.
macro_rules! forget {
    ($($shape:ident)*) => { $(forget!(@ $shape);)* };
    (@ bool) => { fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ number) => {
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
    };
    (@ text) => { fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ null) => { fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ list) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (@ map) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

/// A string, or nothing.
#[derive(Default)]
pub(crate) struct Text<'a>(Option<Cow<'a, str>>);

impl Text<'_> {
    /// The string when there is one.
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The string when it has at least one character.
    pub(crate) fn filled(&self) -> Option<&str> {
        self.get().filter(|text| !text.is_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }

            forget!(bool number null list map);
        }
        input.deserialize_any(Read)
    }
}

/// A count of something, or nothing. Fractions are cut, negative numbers are nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Count, E> {
                Ok(Count(Some(number)))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Count, E> {
                Ok(Count(u64::try_from(number).ok()))
            }

            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
            fn visit_f64<E>(self, number: f64) -> Result<Count, E> {
                Ok(Count((number >= 0.0).then_some(number as u64)))
            }

            forget!(bool text null list map);
        }
        input.deserialize_any(Read)
    }
}

/// True, or anything else.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flag(pub(crate) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true or false")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            forget!(number text null list map);
        }
        input.deserialize_any(Read)
    }
}

/// An object of a type, or nothing.
pub(crate) struct Obj<T>(pub(crate) Option<T>);

impl<T> Default for Obj<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Obj<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = Obj<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Obj<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| Obj(Some(value)))
            }

            forget!(bool number text null list);
        }
        input.deserialize_any(Read(PhantomData))
    }
}

/// The elements of a list, or none.
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List<T>, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element::<T>()? {
                    elements.push(element);
                }
                Ok(List(elements))
            }

            forget!(bool number text null map);
        }
        input.deserialize_any(Read(PhantomData))
    }
}

/// The first element of a list, or nothing; no list is built.
pub(crate) struct First<T>(pub(crate) Option<T>);

impl<T> Default for First<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = First<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<First<T>, A::Error> {
                let first = list.next_element::<T>()?;
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(First(first))
            }

            forget!(bool number text null map);
        }
        input.deserialize_any(Read(PhantomData))
    }
}

/// A text that may also come as a list.
pub(crate) enum TextOrList<'a, T> {
    /// A string, or nothing.
    Text(Text<'a>),
    /// The elements of a list.
    List(Vec<T>),
}

impl<T> Default for TextOrList<'_, T> {
    fn default() -> Self {
        Self::Text(Text::default())
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOrList<'a, T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = TextOrList<'de, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOrList::Text(Text(Some(Cow::Borrowed(text)))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOrList::Text(Text(Some(Cow::Owned(text.to_owned())))))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element::<T>()? {
                    elements.push(element);
                }
                Ok(TextOrList::List(elements))
            }

            forget!(bool number null map);
        }
        input.deserialize_any(Read(PhantomData))
    }
}

/// A text that may also come as a list of parts: the `text` of the parts is joined.
#[derive(Default)]
pub(crate) struct PartsOrText<'a>(pub(crate) Text<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for PartsOrText<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Part<'a> {
            #[serde(borrow)]
            text: Text<'a>,
        }
        Ok(Self(match TextOrList::<Obj<Part<'de>>>::deserialize(input)? {
            TextOrList::Text(text) => text,
            TextOrList::List(parts) => {
                let texts = parts.iter().filter_map(|part| part.0.as_ref()?.text.get());
                Text(Some(Cow::Owned(texts.collect())))
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Sample<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        count: Count,
        flag: Flag,
        #[serde(borrow)]
        list: List<Obj<Inner<'a>>>,
        #[serde(borrow)]
        first: First<Obj<Inner<'a>>>,
        #[serde(borrow)]
        parts: PartsOrText<'a>,
    }

    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        name: Text<'a>,
    }

    #[test]
    fn any_shape_reads_and_only_the_wanted_one_counts() {
        for odd in ["null", "true", "-1", "2.5", "[1,{\"a\":[]}]", "{\"x\":{\"y\":1}}"] {
            let json = format!(
                r#"{{"text":{odd},"list":{odd},"first":{odd},"parts":{odd},"count":{odd},"flag":{odd},"new":{odd}}}"#
            );
            let sample: Sample<'_> = serde_json::from_str(&json).unwrap();
            assert_eq!(sample.text.get(), None, "{odd}");
            assert_eq!(sample.count.0, (odd == "2.5").then_some(2), "{odd}");
            assert_eq!(sample.flag.0, odd == "true");
            assert!(sample.list.0.iter().all(|inner| inner.0.as_ref().is_none_or(|inner| inner.name.get().is_none())));
            assert!(sample.first.0.and_then(|inner| inner.0).is_none(), "{odd}");
        }
        let json = r#"{"text":"a\n","count":7,"list":[{"name":"n"},3],"first":[{"name":"f"},{"name":"g"}],"parts":[{"text":"p"},{"type":"x"},{"text":"q"}]}"#;
        let sample: Sample<'_> = serde_json::from_str(json).unwrap();
        assert_eq!(sample.text.filled(), Some("a\n"));
        assert_eq!(sample.count.0, Some(7));
        assert_eq!(sample.list.0.len(), 2);
        assert_eq!(sample.first.0.unwrap().0.unwrap().name.get(), Some("f"));
        assert_eq!(sample.parts.0.get(), Some("pq"));
    }

    #[test]
    fn a_text_without_escapes_is_borrowed() {
        let sample: Sample<'_> = serde_json::from_str(r#"{"text":"plain"}"#).unwrap();
        assert!(matches!(sample.text.0, Some(Cow::Borrowed(_))));
    }
}
