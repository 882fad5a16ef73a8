//! Access control: any page in the browser can send requests to this machine, so each request must prove that it
//! comes from ours.

use super::error_response::ErrorResponse;
use super::state::{Shared, Studio};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Headers of every answer. Only the page's own files may run or be loaded, nothing is stored, and no other page may
/// frame it, read it or learn its address.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; media-src blob:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// The allowed host names of this server: a request under another name comes from another page.
pub(super) fn hosts(port: u16, more: &[String]) -> Vec<String> {
    let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    own.into_iter().chain(more.iter().cloned()).collect()
}

/// Rejects requests under other host names or from other pages, and too many at a time.
pub(super) async fn guard(State(studio): Shared, request: Request, next: Next) -> Response {
    let mut response = match refused(&studio, &request) {
        Some(why) => ErrorResponse::new(StatusCode::FORBIDDEN, why).into_response(),
        None => match studio.requests.try_acquire() {
            Ok(_permit) => next.run(request).await,
            Err(_) => ErrorResponse::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests at a time")
                .into_response(),
        },
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

fn refused(studio: &Studio, request: &Request) -> Option<&'static str> {
    let known = |name: &str| studio.hosts.iter().any(|host| host.eq_ignore_ascii_case(name));
    let headers = request.headers();
    let Some(host) = only(headers, header::HOST).filter(|host| known(host)) else {
        return Some("this server is not known by that name");
    };
    // A target with its own host name, as for a proxy.
    if request.uri().authority().is_some_and(|a| !known(a.as_str())) {
        return Some("this server is not known by that name");
    }
    if headers.contains_key(header::ORIGIN) {
        let own = |origin: &str| origin.strip_prefix("http://").is_some_and(|o| o.eq_ignore_ascii_case(host));
        // A tunnel named by `--allow-host` may use TLS.
        let tunnel = |origin: &str| {
            let name = origin.strip_prefix("https://");
            name.is_some_and(|o| o.eq_ignore_ascii_case(host)) && !host.starts_with("127.0.0.1:")
        };
        if !only(headers, header::ORIGIN).is_some_and(|o| own(o) || tunnel(o)) {
            return Some("the request comes from another page");
        }
    }
    let site = HeaderName::from_static("sec-fetch-site");
    let is_page = request.uri().path() == "/";
    if headers.contains_key(&site) && !is_page && only(headers, site) != Some("same-origin") {
        return Some("the request comes from another page");
    }
    None
}

/// The value of a header that occurs exactly once and is text.
pub(super) fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    if all.next().is_some() { None } else { Some(value) }
}

/// Rejects requests without the token.
pub(super) async fn require_token(State(studio): Shared, request: Request, next: Next) -> Response {
    let given = only(request.headers(), header::AUTHORIZATION).and_then(|v| v.strip_prefix("Bearer "));
    if given.is_some_and(|given| same(given, &studio.token)) {
        return next.run(request).await;
    }
    ErrorResponse::new(
        StatusCode::UNAUTHORIZED,
        "the key of the page is missing or from an earlier run: open the address that the studio printed",
    )
    .into_response()
}

/// Compares two texts in a time that does not depend on where they differ.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}
