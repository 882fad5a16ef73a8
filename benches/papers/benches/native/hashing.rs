//! Compact spatial hashing (M. Ihmsen and others, *A Parallel SPH Implementation on Multi-Core CPUs*, 2011): a hash
//! table of twice as many entries as parcels leads to a compact list of the cells in use, each with its own range.

/// Neighbours of each parcel.
pub struct Lists {
    near: Vec<Vec<u32>>,
    cells: Vec<([i32; 3], Vec<u32>)>,
    table: Vec<u32>,
}

impl Lists {
    pub fn new(n: usize) -> Lists {
        let table = vec![u32::MAX; (2 * n).next_power_of_two()];
        Lists { near: vec![Vec::new(); n], cells: Vec::new(), table }
    }
    pub fn pairs(&self) -> usize {
        self.near.iter().map(Vec::len).sum()
    }
    /// The entry of a cell, or the free one where it belongs.
    fn entry(&self, c: [i32; 3]) -> usize {
        let h = (c[0].wrapping_mul(73_856_093)
            ^ c[1].wrapping_mul(19_349_663)
            ^ c[2].wrapping_mul(83_492_791)) as u32;
        let mask = self.table.len() - 1;
        let mut at = (h.wrapping_mul(0x9e37_79b1) >> 4) as usize & mask;
        while self.table[at] != u32::MAX && self.cells[self.table[at] as usize].0 != c {
            at = (at + 1) & mask;
        }
        at
    }
}

pub fn search(places: &[[f32; 3]], radius: f32, lists: &mut Lists) {
    let inv = 1.0 / (radius * 1.0003);
    lists.table.fill(u32::MAX);
    let mut used = 0;
    for (i, p) in (0..).zip(places) {
        let cell = p.map(|v| (v * inv).floor() as i32);
        let at = lists.entry(cell);
        if lists.table[at] == u32::MAX {
            lists.table[at] = used as u32;
            // Lists of cells keep their room from step to step.
            if used < lists.cells.len() {
                lists.cells[used].0 = cell;
                lists.cells[used].1.clear();
            } else {
                lists.cells.push((cell, Vec::new()));
            }
            used += 1;
        }
        let cell = lists.table[at] as usize;
        lists.cells[cell].1.push(i);
    }
    lists.cells.truncate(used);
    let h2 = radius * radius;
    lists.near.iter_mut().for_each(Vec::clear);
    let mut near = std::mem::take(&mut lists.near);
    for ([x, y, z], own) in &lists.cells {
        let around: [Option<&Vec<u32>>; 27] = core::array::from_fn(|n| {
            let n = n as i32;
            let entry = lists.entry([x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1]);
            lists.cells.get(lists.table[entry] as usize).map(|c| &c.1)
        });
        for i in own {
            let (p, near) = (places[*i as usize], &mut near[*i as usize]);
            for other in around.iter().flatten() {
                for j in other.iter() {
                    let q = places[*j as usize];
                    let (dx, dy, dz) = (p[0] - q[0], p[1] - q[1], p[2] - q[2]);
                    if dx * dx + dy * dy + dz * dz < h2 && i != j {
                        near.push(*j);
                    }
                }
            }
        }
    }
    lists.near = near;
}
