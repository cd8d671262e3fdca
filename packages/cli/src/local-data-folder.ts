/** The folder in which `dev` stores its data for the project. */
export const LOCAL_DATA_FOLDER = '.runyard';
