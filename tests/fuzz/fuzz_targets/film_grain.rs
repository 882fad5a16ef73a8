#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let target = grainfield_fuzz::find("film_grain").expect("a target of that name");
    (target.run)(data);
});
