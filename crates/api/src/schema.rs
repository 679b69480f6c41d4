//! Descriptions for OpenAPI.

use utoipa::ToSchema;
use utoipa::openapi::{Object, ObjectBuilder, OpenApi, RefOr, Schema, Type};

/// A frame, window or group: see docs/concepts/wire.md.
///
/// Example: [`Described`](crate::Described)
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code, reason = "a name for the reference")]
pub struct Frame(Vec<u8>);

/// Removes from the descriptions of objects all that is for readers of the code: examples, and references to them.
pub fn without_examples(document: &mut OpenApi) {
    let schemas = document.components.iter_mut().flat_map(|components| components.schemas.values_mut());
    for schema in schemas {
        let RefOr::T(schema) = schema else { continue };
        let description = match schema {
            Schema::Object(object) => &mut object.description,
            Schema::AllOf(all) => &mut all.description,
            Schema::OneOf(one) => &mut one.description,
            _ => continue,
        };
        if let Some(text) = description {
            let end = ["\n\nExample: ", "\n\n```"].iter().filter_map(|mark| text.find(mark)).min();
            text.truncate(end.unwrap_or(text.len()));
        }
    }
}

/// Returns the schema of an HTTP status.
pub(crate) fn status() -> Object {
    ObjectBuilder::new().schema_type(Type::Integer).description(Some("The HTTP status.")).build()
}
