//! Sets configuration flags for the FFmpeg version that it builds against, where versions differ in ways that do
//! not compile otherwise.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for version in ["6_0", "6_1", "7_0", "7_1", "8_0"] {
        println!("cargo:rustc-check-cfg=cfg(ffmpeg_{version})");
        // set by the crate that binds to the libraries: "true" from that version on
        if env::var(format!("DEP_FFMPEG_FFMPEG_{version}")).is_ok_and(|v| v == "true") {
            println!("cargo:rustc-cfg=ffmpeg_{version}");
        }
    }
}
