//! The interface as an OpenAPI document, made from the descriptions of its routes.

use sotto_api::schema::without_examples;
use sotto_api::{Admission, PROBLEM, Problem};
use utoipa::PartialSchema as _;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, Content, HeaderBuilder, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, Ref,
    RefOr, Response, Type,
};

/// Name of the owner's token among the security schemes.
const OWNER_TOKEN: &str = "owner_token";

const ABOUT: &str = "\
The HTTP interface of `sotto-cloud`, which stores encrypted readings of devices and computes on them without a secret key.

**Callers.** The owner sends a token: `Authorization: Bearer TOKEN`. A device sends no token; the Ed25519 signature \
in its message admits it. Anybody may ask for health and for this document.

**Bodies.** `application/octet-stream` is one frame, window or group in the format of \
`docs/concepts/wire.md`, which numbers the kinds of frames. The cloud does not look at the \
`Content-Type` of a request. A JSON body has at most 256 KiB unless its route says otherwise, and unknown fields are refused.

**Refusals.** Every status from 400 on comes with a problem document (RFC 9457). Its `reason` is stable and for programs; \
the reasons are listed with each status. An unknown path gets 404 `no-such-resource`, another method of a path 405 \
`method-not-allowed` with `Allow`. Of a device's upload, \
`docs/concepts/wire.md` lists the reasons that are final.

**Pages.** A list has at most `limit` items. If more follow, the header `Link: <?…>; rel=\"next\"` (RFC 8288) has the query of the next page, relative to the request's address. \
A larger `limit` counts as the largest.

**Sums over HTTP.** Windows of sums are added without a plan and without a key: list them (`GET /v1/envelopes`), \
and ask `POST /v1/streams/{stream}/sums` for windows by their sequence numbers, a request for each stream of a device. \
A device whose bundle was renewed has the same readings in two streams: count one of them. \
A plan (`PUT /v1/plans`) is made by `sotto` or the Rust crates. \
Only a holder of the device's secret opens the answers: the owner's tool, the Rust crates or `spec/`.

**Units.** Times are milliseconds since 1970-01-01 00:00 UTC. Ids, keys and digests are lower-case hexadecimal digits.

**Limits.** A connection may be refused or closed before a request is read (`connections`, `connections_per_peer`, \
`header_seconds` of the configuration). A request in the clear to a port that speaks TLS gets 400 `tls-required`. `HEAD` is answered as `GET`, without the body.";

/// The callers of routes, by the proof that these ask for.
const CALLERS: [Admission; 3] = [Admission::Anybody, Admission::Signature, Admission::Token];

fn tag(admission: Admission) -> &'static str {
    match admission {
        Admission::Anybody => "Anybody",
        Admission::Signature => "Devices",
        Admission::Token => "Owner",
    }
}

fn description(admission: Admission) -> &'static str {
    match admission {
        Admission::Anybody => "Without a token.",
        Admission::Signature => {
            "Without a token: the signature of a registered device in the body admits the message."
        }
        Admission::Token => "With the owner's token: `Authorization: Bearer TOKEN`.",
    }
}

/// Returns the document of the whole interface, from the descriptions of its routes.
pub(super) fn document(described: impl IntoIterator<Item = (Admission, OpenApi)>) -> OpenApi {
    // The version of the interface: the program's version is told to the owner only.
    let info = InfoBuilder::new().title("sotto-cloud").version("1").description(Some(ABOUT));
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
        "The owner's token: 16 to 256 visible ASCII characters, from the file `owner_token_file`.",
    ));
    let components = ComponentsBuilder::new()
        .security_scheme(OWNER_TOKEN, SecurityScheme::Http(token.build()))
        .schema("Problem", Problem::schema());
    let tags = CALLERS.map(|admission| {
        TagBuilder::new().name(tag(admission)).description(Some(description(admission))).build()
    });
    let mut document = OpenApiBuilder::new()
        .info(info.build())
        .components(Some(components.build()))
        .tags(Some(tags.to_vec()))
        .build();
    for (admission, mut route) in described {
        for (path, item) in &mut route.paths.paths {
            for (method, operation) in operations(item) {
                operation.operation_id = Some(operation_id(method, path));
                complete(operation, admission);
            }
        }
        document.merge(route);
    }
    without_examples(&mut document);
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    let PathItem { get, put, post, delete, .. } = item;
    let all = [("get", get), ("put", put), ("post", post), ("delete", delete)];
    all.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// Returns a name that no other operation has: `get` and `/v1/jobs/{id}` become `get_jobs_id`.
fn operation_id(method: &str, path: &str) -> String {
    let path = path.strip_prefix("/v1").unwrap_or(path).replace(['{', '}'], "").replace(['/', '.'], "_");
    method.to_owned() + &path
}

/// Adds the caller, the statuses that follow from the caller and the kind of a request, and the form of refusals.
fn complete(operation: &mut Operation, admission: Admission) {
    operation.tags = Some(vec![tag(admission).to_owned()]);
    let parameters = operation.parameters.iter().flatten();
    let is_parsed = |place: &ParameterIn| matches!(place, ParameterIn::Path | ParameterIn::Query);
    if parameters.clone().any(|parameter| matches!(parameter, RefOr::T(one) if is_parsed(&one.parameter_in)))
    {
        add(operation, 400, "`bad-request`: a parameter that cannot be read");
    }
    if operation.request_body.is_some() {
        add(operation, 400, "`truncated`: the body ended early");
        add(operation, 408, "`too-slow`: the body did not arrive within `body_seconds`, or paused for 10 s");
        add(operation, 413, "`too-large`");
    }
    if admission == Admission::Token {
        add(operation, 401, "`unauthorised`: no token, or another one");
        operation.security = Some(vec![SecurityRequirement::new(OWNER_TOKEN, Vec::<String>::new())]);
    }
    if admission != Admission::Anybody {
        add(operation, 500, "`internal`, `stored-bytes-damaged`: the cloud's log says more");
    }
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && status.as_str() >= "400"
        {
            response
                .content
                .insert(PROBLEM.to_owned(), RefOr::T(Content::new(Some(Ref::from_schema_name("Problem")))));
            if let Some((name, description)) = header_of(status) {
                let value = ObjectBuilder::new().schema_type(Type::String).build();
                let header = HeaderBuilder::new().schema(Some(value)).description(Some(description));
                response.headers.insert(name.to_owned(), RefOr::T(header.build()));
            }
        }
    }
}

fn add(operation: &mut Operation, status: u16, reason: &str) {
    let response = operation.responses.responses.entry(status.to_string());
    let response = response.or_insert_with(|| RefOr::T(Response::new("")));
    if let RefOr::T(response) = response {
        let others = core::mem::take(&mut response.description);
        let before = if others.is_empty() { others } else { others + "; " };
        response.description = before + reason;
    }
}

fn header_of(status: &str) -> Option<(&'static str, &'static str)> {
    match status {
        "401" => Some(("WWW-Authenticate", "`Bearer realm=\"sotto\"`")),
        "429" => Some(("Retry-After", "5 (seconds)")),
        "503" => Some(("Retry-After", "1 (seconds)")),
        _ => None,
    }
}
