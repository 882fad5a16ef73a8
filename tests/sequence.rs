//! Image sequences, in and out, against ffmpeg and against themselves.

mod images;
