import Support

@testable import Emulation

extension World {
    /// Drops the keys that vendors have fetched, as a restart does: what they decide until they are fetched again
    /// depends on when that was.
    func forgetFetchedKeys() {
        for index in emulator.vendors.indices {
            (sandbox.vendor(index) as? any FetchedKeysHolder)?.forgetFetchedKeys()
        }
    }
}

/// A vendor's state in a sandbox, whatever the vendor.
private protocol FetchedKeysHolder {
    func forgetFetchedKeys()
}

extension VendorStateStore: FetchedKeysHolder {
    func forgetFetchedKeys() {
        change(at: runtime) { runtime, state in
            let vendor = runtime.vendor
            for keys in vendor.remoteKeys(in: state) {
                vendor.store(
                    RemoteKeys(issuer: keys.issuer, url: keys.url, form: keys.form, algorithm: keys.algorithm),
                    in: &state)
            }
        }
    }
}
