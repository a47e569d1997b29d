// swift-tools-version: 6.1
import Foundation
import PackageDescription

/// The mounted vendors; a name here makes the targets of its folders.
let vendors = ["Bloomreach", "Comapi", "IMS", "Okta", "Rezolve"]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// Whether to build only what the emulation is based on, which is enough for fuzzing and the sanitizers; `threads` leaves out
/// what has no locks and starts no threads.
let foundationOnly = Context.environment["UNDERSTUDY_FOUNDATION_ONLY"]
let isFoundationOnly = foundationOnly != nil
let withoutThreads = foundationOnly == "threads" ? ["Contracts", "ContractsTests", "JSONTests", "WireTests"] : []

/// There the engine can also wait by a kqueue that is emulated with epoll, for a run of its tests (`Tests/Kqueue/run`).
let kqueue: [Target] = isFoundationOnly ? [.target(name: "CKqueue", path: "Tests/Kqueue", exclude: ["run"])] : []

let foundation: [Target] = [
    .systemLibrary(
        name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .target(name: "CEpoll"),
    .target(name: "JSON"),
    .target(name: "Wire", dependencies: ["JSON", httpTypes]),
    .target(
        name: "HTTPEngine",
        dependencies: ["Wire", "COpenSSL", "CEpoll", httpTypes] + kqueue.map { .target(name: $0.name) }),
    .target(name: "Tokens", dependencies: ["JSON", "COpenSSL"]),
    .target(name: "Contracts", dependencies: ["JSON", httpTypes]),
]

let core: [Target] = [
    .systemLibrary(
        name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(
        name: "Emulation",
        dependencies: [
            "JSON", "Wire", "Tokens", httpTypes, logging, .product(name: "Yams", package: "Yams"),
        ]),
]

/// Libraries of vendors, which apps may use without a server; their names begin with the vendor's.
let vendorLibraries: [Target] = [
    .target(
        name: "OktaValidator", dependencies: ["JSON", "Tokens", "Emulation"], path: "Sources/Vendors/OktaValidator")
]

let vendorTargets: [Target] = vendors.map { vendor in
    .target(
        name: vendor,
        dependencies: ["JSON", "Wire", "Tokens", "Emulation", httpTypes]
            + vendorLibraries.filter { $0.name.hasPrefix(vendor) }.map { .target(name: $0.name) },
        path: "Sources/Vendors/\(vendor)")
}

let mounting: [Target] = [
    .target(
        name: "Fixtures", path: "Fixtures", sources: ["FixtureResources.swift"],
        resources: (vendors.map { $0.lowercased() } + ["own"]).map { .copy($0) }),
    // The files of the page and the control API, so that they are wherever the program is.
    .target(name: "CEmbedded"),
    .target(
        name: "Understudy",
        dependencies: [
            "JSON", "Wire", "Tokens", "HTTPEngine", "Emulation", "CEmbedded", "CSQLite", "Fixtures", httpTypes, logging,
        ] + vendors.map { .target(name: $0) } + vendorLibraries.map { .target(name: $0.name) },
        exclude: ["Page/Files", "Control/Files"]),
    .target(
        name: "UnderstudyTesting",
        dependencies: ["JSON", "Wire", "HTTPEngine", "Emulation", "Understudy", httpTypes]),
    .executableTarget(
        name: "UnderstudyCLI",
        dependencies: [
            "JSON", "Wire", "Emulation", "Understudy", "Tokens", "HTTPEngine", "Contracts", httpTypes, logging,
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ],
        // What `init` writes.
        resources: [.embedInCode("Init/Files")]),
]

let foundationTests: [Target] = [
    .target(name: "Expectations", path: "Tests/Expectations"),
    .target(name: "Mutations", path: "Tests/Mutations"),
    .target(name: "TestKeys", path: "Tests/TestKeys"),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "Mutations", "Expectations"]),
    .testTarget(name: "WireTests", dependencies: ["Wire", "Expectations", httpTypes]),
    .testTarget(
        name: "HTTPEngineTests",
        dependencies: ["HTTPEngine", "Wire", "Mutations", "Expectations", "COpenSSL", httpTypes]),
    .executableTarget(
        name: "EngineProbe", dependencies: ["HTTPEngine", "Wire", httpTypes], path: "Tests/EngineProbe"),
    .testTarget(name: "TokensTests", dependencies: ["Tokens", "JSON", "Mutations", "Expectations", "TestKeys"]),
    .testTarget(name: "ContractsTests", dependencies: ["Contracts", "JSON", "Mutations", "Expectations", httpTypes]),
]

let tests: [Target] = [
    .testTarget(
        name: "UnderstudyCLITests",
        dependencies: [
            "UnderstudyCLI", "Understudy", "Emulation", "JSON", "Wire", "Tokens", "HTTPEngine", "Expectations",
            httpTypes,
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
    .target(
        name: "Support",
        dependencies: [
            "JSON", "Wire", "Tokens", "HTTPEngine", "Emulation", "Understudy", "Contracts", "Expectations", httpTypes,
        ],
        path: "Tests/Support"),
    .testTarget(
        name: "EmulationTests",
        dependencies: ["Emulation", "JSON", "Wire", "Tokens", "Support", "Expectations", httpTypes]),
    .testTarget(
        name: "UnderstudyTests",
        dependencies: [
            "Understudy", "Emulation", "JSON", "Wire", "Tokens", "Contracts", "Support", "Expectations", httpTypes,
            logging,
        ], exclude: ["Reasons", "Recordings", "States"]),
    .testTarget(
        name: "PropertyTests",
        dependencies: [
            "Understudy", "Emulation", "JSON", "Contracts", "Mutations", "Support", "Expectations", httpTypes,
        ],
        path: "Tests/Property", exclude: ["run"]),
]

let vendorTests: [Target] = vendors.map { vendor in
    .testTarget(
        name: "\(vendor)Tests",
        dependencies: [
            "Understudy", "Emulation", "JSON", "Wire", "Tokens", "Support", "Mutations", "Expectations", httpTypes,
            .target(name: vendor),
        ])
}

let libraryTests: [Target] = [
    .testTarget(
        name: "OktaValidatorTests",
        dependencies: [
            "OktaValidator", "Emulation", "JSON", "Tokens", "Mutations", "Support", "Expectations", "TestKeys",
        ])
]

/// Runs the conformance kit against every vendor it lists, with the data that stands beside each vendor's tests.
let conformance: [Target] = [
    .testTarget(
        name: "ConformanceTests",
        dependencies: ["Support", "UnderstudyTests"] + vendors.map { .target(name: "\($0)Tests") },
        path: "Tests/Conformance")
]

/// Whether the tests exist: images are built without them.
let hasTests = FileManager.default.fileExists(atPath: Context.packageDirectory + "/Tests")

let package = Package(
    name: "understudy",
    platforms: [.macOS(.v15)],
    products: isFoundationOnly
        ? []
        : [
            .executable(name: "understudy", targets: ["UnderstudyCLI"]),
            .library(name: "UnderstudyTesting", targets: ["UnderstudyTesting"]),
            .library(name: "OktaValidator", targets: ["OktaValidator"]),
        ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: (kqueue + foundation + (isFoundationOnly ? [] : core + vendorTargets + vendorLibraries + mounting)
        + (hasTests
            ? foundationTests + (isFoundationOnly ? [] : tests + vendorTests + libraryTests + conformance) : []))
        .filter { !withoutThreads.contains($0.name) }
)

for target in package.targets where target.type == .regular || target.type == .test || target.type == .executable {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ]
    if isFoundationOnly { target.swiftSettings?.append(.define("KQUEUE", .when(platforms: [.linux]))) }
}
