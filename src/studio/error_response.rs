//! Errors of requests, and extractors that report a request's form errors in the same way.

use super::fault::Fault;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use grainfield_filters::forms::recipe::RecipeFault;
use serde::Serialize;
use serde_json::{Value, json};

/// The error of a request.
#[derive(Debug)]
pub(super) struct ErrorResponse {
    status: StatusCode,
    body: Value,
}

impl ErrorResponse {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> ErrorResponse {
        ErrorResponse { status, body: json!({ "error": { "text": text.into() } }) }
    }

    pub(super) fn gone(text: &str) -> ErrorResponse {
        ErrorResponse::new(StatusCode::GONE, text)
    }
}

impl From<Fault> for ErrorResponse {
    fn from(fault: Fault) -> ErrorResponse {
        ErrorResponse::new(
            if fault.stopped { StatusCode::GONE } else { StatusCode::UNPROCESSABLE_ENTITY },
            fault.text,
        )
    }
}

impl From<RecipeFault> for ErrorResponse {
    fn from(fault: RecipeFault) -> ErrorResponse {
        ErrorResponse { status: StatusCode::UNPROCESSABLE_ENTITY, body: json!({ "error": fault }) }
    }
}

macro_rules! rejections {
    ($($kind:ty),*) => {$(
        impl From<$kind> for ErrorResponse {
            fn from(rejection: $kind) -> ErrorResponse {
                ErrorResponse::new(rejection.status(), rejection.body_text())
            }
        }
    )*};
}
rejections!(JsonRejection, PathRejection, QueryRejection);

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}

/// A JSON body of a request, whose errors are [`ErrorResponse`]s, or of an answer.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(ErrorResponse))]
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

/// The query of a request, whose errors are [`ErrorResponse`]s.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ErrorResponse))]
pub(super) struct Query<T>(pub(super) T);

/// The parameters in the path of a request, whose errors are [`ErrorResponse`]s.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ErrorResponse))]
pub(super) struct Path<T>(pub(super) T);
