import { render } from '../../infra/helm/test/rendered-chart.ts';

/** A service of the chart. */
export interface ChartService {
  /** Its component label, the name of its image, and of its folder in `services`. */
  name: string;
  /** Its name below `services` of the values. */
  valuesKey: string;
  kind: 'Deployment' | 'StatefulSet';
  replicas: number;
  /** How many volumes it claims, each of its pods or the whole. */
  claims: number;
}

/** The content of an installation. */
export interface ChartContent {
  services: ChartService[];
  /** How many volumes several services share. */
  sharedClaims: number;
  /** The names of the Jobs that migrate databases before an upgrade. */
  migrations: string[];
}

export async function readChart(): Promise<ChartContent> {
  const manifests = await render('small', '--set', 'consoleUrl=http://console.example');
  const services = manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    .map(({ kind, metadata, spec }) => {
      const name = metadata.labels['app.kubernetes.io/component'] as string;
      return {
        name,
        valuesKey: name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
        kind: kind as ChartService['kind'],
        replicas: spec.replicas as number,
        claims: (spec.volumeClaimTemplates?.length ?? 0) * spec.replicas,
      };
    });
  const ofKind = (wanted: string) =>
    manifests.filter(({ kind }) => kind === wanted).map(({ metadata }) => metadata.name);
  return { services, sharedClaims: ofKind('PersistentVolumeClaim').length, migrations: ofKind('Job') };
}
