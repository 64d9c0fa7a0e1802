// Writes a container image as an OCI archive (image-spec 1.1), without a daemon: podman, skopeo, containerd and Docker
// 25 or newer load it.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sha256Of, tarOf } from './reproducible.js'

const media = 'application/vnd.oci.image'

/**
 * `layers`: tar files, the lowest first, each `{file, made}` with a line that says how it was made. `work`: a folder of
 * its own, which the archive is built in.
 */
export function ociArchive(file, { layers, config, arch, name, epoch, work }) {
	const blobs = join(work, 'blobs/sha256')
	mkdirSync(blobs, { recursive: true })
	const put = (bytes, mediaType) => {
		const digest = sha256Of(bytes)
		writeFileSync(join(blobs, digest), bytes)
		return { mediaType, digest: `sha256:${digest}`, size: bytes.length }
	}
	const putJson = (value, mediaType) => put(Buffer.from(JSON.stringify(value)), mediaType)
	const created = new Date(epoch * 1000).toISOString()
	const tars = layers.map(({ file }) => readFileSync(file))
	const manifest = {
		schemaVersion: 2,
		mediaType: `${media}.manifest.v1+json`,
		config: putJson(
			{
				...{ created, architecture: arch, os: 'linux', config },
				rootfs: { type: 'layers', diff_ids: tars.map((tar) => `sha256:${sha256Of(tar)}`) },
				history: layers.map(({ made }) => ({ created, created_by: made })),
			},
			`${media}.config.v1+json`,
		),
		layers: tars.map((tar) => put(gzipSync(tar, { level: 9 }), `${media}.layer.v1.tar+gzip`)),
	}
	const entry = {
		...putJson(manifest, manifest.mediaType),
		annotations: {
			'org.opencontainers.image.ref.name': name.split(':').at(-1),
			'io.containerd.image.name': `localhost/${name}`,
		},
		platform: { architecture: arch, os: 'linux' },
	}
	writeFileSync(join(work, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
	writeFileSync(
		join(work, 'index.json'),
		JSON.stringify({ schemaVersion: 2, mediaType: `${media}.index.v1+json`, manifests: [entry] }),
	)
	const whole = `${file}.part`
	tarOf(work, whole, { epoch, paths: ['oci-layout', 'index.json', 'blobs'] })
	renameSync(whole, file)
}
