//! The whole pipeline from a y4m file to `null:`, compared with reading the file and copying the same number
//! of bytes.
//!
//! `./x bench pipeline`; one iteration is the whole clip, so the throughputs are comparable.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use grainfield::session::job::{Job, Request};
use grainfield_filters::recipe::Recipe;
use std::hint::black_box;
use std::io::Read;
use std::time::Duration;

fn render(input: &str, output: &str, chain: &str, threads: usize) {
    let mut request = Request::new(input, output);
    request.recipe = chain.parse::<Recipe>().unwrap();
    request.threads = Some(threads);
    let job = Job::prepare(request).unwrap();
    job.run(&|_| {}).unwrap();
}

fn pipeline(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    for (name, size, format, frames) in
        [("1080p 8 bit", "1920x1080", "yuv420p", 120), ("4K 10 bit", "3840x2160", "yuv420p10", 24)]
    {
        let file = folder.path().join("clip.y4m").to_string_lossy().into_owned();
        let _ = std::fs::remove_file(&file);
        render(&format!("pattern:bars:size={size}:frames={frames}:format={format}"), &file, "", 2);
        let bytes = std::fs::metadata(&file).unwrap().len();
        let mut group = c.benchmark_group(format!("y4m to null, {name}"));
        group.throughput(Throughput::Bytes(bytes)).sample_size(10);
        group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
        let from = vec![1u8; bytes as usize / frames];
        let mut to = vec![0u8; from.len()];
        group.bench_function("memcpy", |b| {
            b.iter(|| (0..frames).for_each(|_| black_box(&mut to).copy_from_slice(black_box(&from))));
        });
        let mut buffer = vec![0u8; 1 << 20];
        group.bench_function("read", |b| {
            b.iter(|| {
                let mut file = std::fs::File::open(&file).unwrap();
                while file.read(black_box(&mut buffer)).unwrap() > 0 {}
            });
        });
        for threads in [1, 2] {
            for chain in ["", "noise"] {
                let what = if chain.is_empty() { "no filter" } else { chain };
                group.bench_function(BenchmarkId::new(what, format!("{threads} threads")), |b| {
                    b.iter(|| render(&file, "null:", chain, threads));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
